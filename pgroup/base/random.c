/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * rg_random by Random123's Philox 4x64. Draws that follow one another share blocks of four words: a
 * reader keeps the block that it has used last. */
#include "base/random.h"

#include <Random123/philox.h>
#include <math.h>
#include <regroup/random.h>

#include "base/error.h"

enum { UNIFORM, NORMAL, INTEGER };
#define NEXT_TRIES 256 /* added to the kind for each block of tries */

static philox4x64_ctr_t block_of(const rg_random *random, uint64_t number, uint64_t kind) {
  philox4x64_ctr_t counter = {{number, random->step, random->walker, kind}};
  philox4x64_key_t key = {{random->seed, 0}};
  return philox4x64(counter, key);
}

typedef struct {
  const rg_random *r;
  uint64_t kind, number; /* of the block */
  int read;              /* whether there is one */
  philox4x64_ctr_t block;
} word_reader;

static uint64_t word_at(word_reader *reader, uint64_t i) {
  if (!reader->read || reader->number != i / 4) {
    reader->number = i / 4;
    reader->block = block_of(reader->r, reader->number, reader->kind);
    reader->read = 1;
  }
  return reader->block.v[i % 4];
}

static int check_stream(const char *call, const rg_random *random, int64_t n, const void *out) {
  if (!random || !out)
    return rgi_error(RG_ERR_ARG, "%s: %s is NULL", call, random ? "out" : "r");
  if (n < 0)
    return rgi_error(RG_ERR_ARG, "%s: %lld numbers", call, (long long)n);
  return RG_SUCCESS;
}

int rg_random_bits(rg_random *random, int64_t n, uint64_t out[]) {
  RGI_TRY(check_stream(__func__, random, n, out));
  word_reader words = {.r = random, .kind = UNIFORM};
  for (int64_t i = 0; i < n; i++)
    out[i] = word_at(&words, random->draw + (uint64_t)i);
  random->draw += (uint64_t)n;
  return RG_SUCCESS;
}

int rg_random_uniform(rg_random *random, int64_t n, double out[]) {
  RGI_TRY(check_stream(__func__, random, n, out));
  word_reader words = {.r = random, .kind = UNIFORM};
  for (int64_t i = 0; i < n; i++)
    out[i] = rgi_random_unit(word_at(&words, random->draw + (uint64_t)i));
  random->draw += (uint64_t)n;
  return RG_SUCCESS;
}

/* Normal numbers 2 i and 2 i + 1, by Box and Muller. */
static void make_pair(word_reader *words, uint64_t i, double pair[2]) {
  double radius = sqrt(-2 * log(rgi_random_unit(word_at(words, 2 * i))));
  double angle = 2 * 3.14159265358979323846 * rgi_random_unit(word_at(words, 2 * i + 1));
  pair[0] = radius * cos(angle);
  pair[1] = radius * sin(angle);
}

int rg_random_normal(rg_random *random, int64_t n, double out[]) {
  RGI_TRY(check_stream(__func__, random, n, out));
  word_reader words = {.r = random, .kind = NORMAL};
  double pair[2];
  for (int64_t i = 0; i < n; i++) {
    uint64_t draw = random->draw + (uint64_t)i;
    if (i == 0 || draw % 2 == 0)
      make_pair(&words, draw / 2, pair);
    out[i] = pair[draw % 2];
  }
  random->draw += (uint64_t)n;
  return RG_SUCCESS;
}

static uint64_t integer_at(const rg_random *random, uint64_t draw, uint64_t below) {
  for (uint64_t kind = INTEGER;; kind += NEXT_TRIES) {
    philox4x64_ctr_t tries = block_of(random, draw, kind);
    uint64_t integer;
    for (int j = 0; j < 4; j++)
      if (rgi_random_below(below, tries.v[j], &integer))
        return integer;
  }
}

int rg_random_integer(rg_random *random, uint64_t below, int64_t n, uint64_t out[]) {
  RGI_TRY(check_stream(__func__, random, n, out));
  if (below == 0)
    return rgi_error(RG_ERR_ARG, "%s: there is no integer below 0", __func__);
  for (int64_t i = 0; i < n; i++)
    out[i] = integer_at(random, random->draw + (uint64_t)i, below);
  random->draw += (uint64_t)n;
  return RG_SUCCESS;
}

int rg_random_jump(rg_random *random, int64_t draws) {
  RGI_REQUIRE(random);
  random->draw += (uint64_t)draws;
  return RG_SUCCESS;
}
