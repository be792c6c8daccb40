/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "draw.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mix.h"

static uint64_t state;

void draw_start(uint64_t seed, uint64_t number, uint64_t own) {
  state = rgi_mix_bits(rgi_mix_bits(seed + number) + own);
}

uint64_t draw_bits(void) {
  state += 0x9e3779b97f4a7c15u;
  return rgi_mix_bits(state);
}

int draw_below(int n) {
  return (int)(draw_bits() % (uint64_t)n);
}

int draw_chance(int n) {
  return draw_below(n) == 0;
}

int draw_int(void) {
  static const int values[] = {
      0,           -1,          1,       2,       3,  INT_MAX, INT_MIN,
      INT_MAX - 1, INT_MIN + 1, 1 << 30, 1 << 16, -2, 1 << 28, (1 << 28) - 1,
      -(1 << 30),  -32766,      100000};
  int n = sizeof values / sizeof *values, at = draw_below(n + 1);
  return at < n ? values[at] : (int)draw_bits();
}

int64_t draw_int64(void) {
  static const int64_t values[] = {INT64_MAX,
                                   INT64_MIN,
                                   INT64_MAX - 1,
                                   INT64_MIN + 1,
                                   INT64_MAX / 2,
                                   INT64_MAX / 2 + 1,
                                   INT64_MAX / 4 + 1,
                                   INT64_MAX / 8,
                                   INT64_MAX / 8 + 1,
                                   INT64_MAX / 16 + 1,
                                   INT64_C(1) << 40,
                                   INT64_C(1) << 32,
                                   (INT64_C(1) << 32) - 1,
                                   (INT64_C(1) << 31) - 1,
                                   INT64_C(1) << 31,
                                   (INT64_C(1) << 31) + 1,
                                   -(INT64_C(1) << 31),
                                   -(INT64_C(1) << 32),
                                   INT64_C(1) << 61};
  int n = sizeof values / sizeof *values, at = draw_below(2 * n);
  if (at < n)
    return values[at];
  return at < 2 * n - 1 ? draw_int() : (int64_t)draw_bits();
}

double draw_double(void) {
  static const double values[] = {0,     -0.0, 1,    -1,     0.5,      1e-300,    1e300,
                                  1e308, 1e18, 1e19, -1e300, INFINITY, -INFINITY, NAN};
  int n = sizeof values / sizeof *values, at = draw_below(2 * n);
  return at < n ? values[at] : (double)draw_below(1000) / 100;
}

int draw_near(int n) {
  return draw_chance(8) ? draw_int() : draw_below(n > 0 ? n + 2 : 3) - 1;
}

int64_t draw_near64(int64_t n) {
  return draw_chance(8) ? draw_int64() : draw_below(n > 0 && n < INT_MAX - 2 ? (int)n + 2 : 3) - 1;
}

static int write_piece(const char *const words[], char *text, size_t room) {
  int n = 0;
  while (words[n])
    n++;
  switch (draw_below(6)) {
  case 0:
    return snprintf(text, room, "%lld", (long long)draw_int64());
  case 1:
    return snprintf(text, room, "%g", draw_double());
  case 2:
    return snprintf(text, room, "%c", 1 + draw_below(255));
  case 3:
    return snprintf(text, room, "%c", ",=:;-. \n\t[]0/|"[draw_below(14)]);
  default:
    return snprintf(text, room, "%s", words[draw_below(n)]);
  }
}

void draw_text(const char *const words[], char *text, size_t room) {
  size_t at = 0;
  text[0] = '\0';
  for (int pieces = draw_below(12); pieces > 0 && at + 1 < room; pieces--) {
    int more = write_piece(words, text + at, room - at);
    at += more > 0 ? (size_t)more : 0;
  }
}

void draw_damage(char *bytes, size_t *n) {
  if (draw_chance(4)) {
    *n = *n ? (size_t)(draw_bits() % *n) : 0;
    return;
  }
  for (int changes = 1 + draw_below(4); changes > 0 && *n > 0; changes--) {
    int64_t word = draw_int64();
    size_t at = (size_t)(draw_bits() % (draw_chance(2) && *n > 256 ? 256 : *n)), size = sizeof word;
    if (draw_chance(2))
      size = 1;
    else
      at -= at % sizeof word;
    memcpy(bytes + at, &word, size < *n - at ? size : *n - at);
  }
}
