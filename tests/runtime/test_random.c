/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * rg_random against its definition, written down once more here: a plain Philox 4x64, which has the
 * known answers that Random123 publishes. Seeds of statistical tests are fixed: nothing fails by
 * chance.
 * ranks: 1 */
#include <math.h>
#include <regroup/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/random.h"
#include "check.h"

enum { MANY = 50000, TURNS = 2000 };

/* --- the reference -------------------------------------------------------------------------- */

static void multiply(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low) {
  uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
  uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & 0xffffffff);
  *high = a1 * b1 + (middle >> 32) + (other >> 32);
  *low = a * b;
}

static void philox(const uint64_t counter[4], const uint64_t key[2], uint64_t x[4]) {
  uint64_t k0 = key[0], k1 = key[1];
  memcpy(x, counter, 4 * sizeof *x);
  for (int round = 0; round < 10; round++) {
    uint64_t high0, low0, high1, low1;
    multiply(0xd2e7470ee14c6c93, x[0], &high0, &low0);
    multiply(0xca5a826395121157, x[2], &high1, &low1);
    uint64_t next[4] = {high1 ^ x[1] ^ k0, low1, high0 ^ x[3] ^ k1, low0};
    memcpy(x, next, sizeof next);
    k0 += 0x9e3779b97f4a7c15;
    k1 += 0xbb67ae8584caa73b;
  }
}

static uint64_t word_of(const rg_random *random, uint64_t kind, uint64_t i) {
  uint64_t x[4], counter[4] = {i / 4, random->step, random->walker, kind},
                 key[2] = {random->seed, 0};
  philox(counter, key, x);
  return x[i % 4];
}

static double uniform_of(uint64_t word) {
  double x = ((double)(word / 2048) + 0.5) / 9007199254740992.0;
  return x == 1 ? 1 - 1 / 9007199254740992.0 : x;
}

static double normal_of(const rg_random *random, uint64_t d) {
  double u = uniform_of(word_of(random, 1, d - d % 2)),
         v = uniform_of(word_of(random, 1, d - d % 2 + 1));
  double angle = 2 * 3.14159265358979323846 * v;
  return sqrt(-2 * log(u)) * (d % 2 ? sin(angle) : cos(angle));
}

static uint64_t integer_of(const rg_random *random, uint64_t n, uint64_t d) {
  uint64_t excess = (UINT64_MAX % n + 1) % n, x[4], key[2] = {random->seed, 0}, high, low;
  for (uint64_t j = 0;; j++) {
    uint64_t counter[4] = {d, random->step, random->walker, 2 + 256 * (j / 4)};
    philox(counter, key, x);
    multiply(n, x[j % 4], &high, &low);
    if (low >= excess)
      return high;
  }
}

static void test_known_answers(void) {
  static const struct {
    uint64_t counter[4], key[2], answer[4];
  } known[] = {{{0, 0, 0, 0},
                {0, 0},
                {0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}},
               {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
                {UINT64_MAX, UINT64_MAX},
                {0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0}},
               {{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
                {0x452821e638d01377, 0xbe5466cf34e90c6c},
                {0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}}};
  uint64_t x[4];
  for (int i = 0; i < 3; i++) {
    philox(known[i].counter, known[i].key, x);
    RGT_TRUE(memcmp(x, known[i].answer, sizeof x) == 0);
  }
  rg_random r = {.seed = 0};
  RGT_OK(rg_random_bits(&r, 4, x));
  RGT_TRUE(memcmp(x, known[0].answer, sizeof x) == 0);
  RGT_INT(r.draw, 4);
}

/* The table of docs/guide.md. */
static void test_vectors(void) {
  const rg_random at = {.seed = 42, .walker = 7, .step = 3};
  rg_random r = at;
  uint64_t bits[2], below[2];
  double uniform[2], normal[2];
  RGT_OK(rg_random_bits(&r, 2, bits));
  RGT_TRUE(bits[0] == 0x3ef854e4c95a6043 && bits[1] == 0x05bb191870c87ce3);
  r = at;
  RGT_OK(rg_random_uniform(&r, 2, uniform));
  RGT_TRUE(uniform[0] == 0x1.f7c2a7264ad32p-3 && uniform[1] == 0x1.6ec6461c321fp-6);
  r = at;
  RGT_OK(rg_random_normal(&r, 2, normal));
  RGT_DBL(normal[0], -1.1307857479438734, 1e-14);
  RGT_DBL(normal[1], 1.5098730813999008, 1e-14);
  r = at;
  RGT_OK(rg_random_integer(&r, 1000, 2, below));
  RGT_TRUE(below[0] == 535 && below[1] == 918);
  r = (rg_random){UINT64_MAX, UINT64_MAX, UINT64_MAX, 5};
  RGT_OK(rg_random_bits(&r, 2, bits));
  RGT_TRUE(bits[0] == 0x31d48b1e5fe117fc && bits[1] == 0x9efffee25c5651c1);
}

/* --- any stream ------------------------------------------------------------------------------ */

static uint64_t next_number(void) {
  static uint64_t state;
  return rgi_mix_bits(state++ + rgt_seed());
}

/* Every bit of the position counts: full words, small ones, and the largest ones. */
static uint64_t any_word(void) {
  uint64_t kind = next_number() % 3, word = next_number();
  return kind == 0 ? word : kind == 1 ? word % 10 : UINT64_MAX - word % 10;
}

static void test_definition(void) {
  enum { MOST = 11 };
  printf("seed %llu\n", rgt_seed());
  for (int turn = 0; turn < TURNS; turn++) {
    const rg_random at = {any_word(), any_word(), any_word(), any_word()};
    int n = (int)(next_number() % (MOST + 1)), wrong = 0;
    uint64_t below = any_word(), bits[MOST], integers[MOST];
    double uniform[MOST], normal[MOST];
    rg_random r[4] = {at, at, at, at};
    below += below == 0;
    RGT_OK(rg_random_bits(&r[0], n, bits));
    RGT_OK(rg_random_uniform(&r[1], n, uniform));
    RGT_OK(rg_random_normal(&r[2], n, normal));
    RGT_OK(rg_random_integer(&r[3], below, n, integers));
    for (int i = 0; i < n; i++) {
      uint64_t d = at.draw + (uint64_t)i;
      wrong += bits[i] != word_of(&at, 0, d);
      wrong += uniform[i] != uniform_of(word_of(&at, 0, d));
      wrong += normal[i] != normal_of(&at, d);
      wrong += integers[i] != integer_of(&at, below, d) || integers[i] >= below;
    }
    for (int i = 0; i < 4; i++)
      wrong += r[i].draw != at.draw + (uint64_t)n || r[i].step != at.step;
    RGT_INT(wrong, 0);
  }
}

/* Draws some numbers of any kind. */
static void draw_some(rg_random *random, uint64_t kind, int64_t n) {
  double x[20];
  uint64_t w[20];
  RGT_OK(kind == 0   ? rg_random_bits(random, n, w)
         : kind == 1 ? rg_random_uniform(random, n, x)
         : kind == 2 ? rg_random_normal(random, n, x)
                     : rg_random_integer(random, 6, n, w));
}

static void test_jumps(void) {
  for (int turn = 0; turn < TURNS; turn++) {
    rg_random drawn = {any_word(), any_word(), any_word(), any_word()}, jumped = drawn;
    double a[5], b[5];
    int64_t n = (int64_t)(next_number() % 20);
    draw_some(&drawn, next_number() % 4, n);
    RGT_OK(rg_random_jump(&jumped, n));
    RGT_OK(rg_random_normal(&drawn, 5, a));
    RGT_OK(rg_random_normal(&jumped, 5, b));
    RGT_TRUE(memcmp(a, b, sizeof a) == 0);
    RGT_OK(rg_random_jump(&jumped, -5));
    for (int i = 0; i < 5; i++) /* one by one */
      RGT_OK(rg_random_normal(&jumped, 1, &b[i]));
    RGT_TRUE(memcmp(a, b, sizeof a) == 0);
  }
}

/* --- edges ------------------------------------------------------------------------------------ */

static void test_interval(void) {
  RGT_TRUE(rgi_random_unit(0) == 0x1p-54);
  RGT_TRUE(rgi_random_unit(2047) == 0x1p-54);
  RGT_TRUE(rgi_random_unit(2048) == 3 * 0x1p-54);
  RGT_TRUE(rgi_random_unit(UINT64_C(1) << 63) == 0.5); /* a half, rounded to even */
  RGT_TRUE(rgi_random_unit(UINT64_MAX - 2048) == 1 - 0x1p-52);
  RGT_TRUE(rgi_random_unit(UINT64_MAX) == 1 - 0x1p-53);
}

/* The words that count for the integer k below n are consecutive, and as many for each k. */
static void check_words_of(uint64_t n, uint64_t k) {
  unsigned __int128 all = (unsigned __int128)1 << 64, start = (unsigned __int128)k << 64;
  uint64_t excess = (uint64_t)(all % n), words = (uint64_t)((all - excess) / n), integer;
  uint64_t first = (uint64_t)((start + excess + n - 1) / n), last = first + (words - 1);
  RGT_TRUE(rgi_random_below(n, first, &integer) && integer == k);
  RGT_TRUE(rgi_random_below(n, last, &integer) && integer == k);
  RGT_TRUE(first == 0 || !rgi_random_below(n, first - 1, &integer) || integer == k - 1);
  RGT_TRUE(last == UINT64_MAX || !rgi_random_below(n, last + 1, &integer) || integer == k + 1);
}

static void test_without_bias(void) {
  static const uint64_t edges[] = {2,
                                   3,
                                   5,
                                   UINT64_C(1) << 32,
                                   UINT64_MAX / 3,
                                   (UINT64_C(1) << 63) - 1,
                                   UINT64_C(1) << 63,
                                   (UINT64_C(1) << 63) + 1};
  uint64_t integer;
  for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
    check_words_of(edges[i], 0);
    check_words_of(edges[i], edges[i] / 2);
    check_words_of(edges[i], edges[i] - 1);
  }
  for (int turn = 0; turn < TURNS; turn++) {
    uint64_t n = 2 + next_number() % ((UINT64_C(1) << 63) + 1);
    check_words_of(n, next_number() % n);
    RGT_TRUE(rgi_random_below(1, next_number(), &integer) && integer == 0);
  }
  /* Of all words for 2^63 none is lost; for one more nearly half are, and further tries count. */
  RGT_TRUE(rgi_random_below(UINT64_C(1) << 63, 1, &integer) && integer == 0);
  RGT_TRUE(!rgi_random_below((UINT64_C(1) << 63) + 1, 0, &integer));
}

static void test_wrong_use(void) {
  rg_random r = {.seed = 1, .draw = 7};
  uint64_t w = 5;
  double x = 5;
  RGT_FAILS(rg_random_bits(NULL, 1, &w), RG_ERR_ARG);
  RGT_FAILS(rg_random_bits(&r, 1, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_random_uniform(&r, -1, &x), RG_ERR_ARG);
  RGT_FAILS(rg_random_uniform(&r, 1, NULL), RG_ERR_ARG);
  RGT_FAILS(rg_random_normal(NULL, 1, &x), RG_ERR_ARG);
  RGT_FAILS(rg_random_normal(&r, INT64_MIN, &x), RG_ERR_ARG);
  RGT_FAILS(rg_random_integer(&r, 0, 1, &w), RG_ERR_ARG);
  RGT_FAILS(rg_random_integer(&r, 2, -1, &w), RG_ERR_ARG);
  RGT_FAILS(rg_random_jump(NULL, 1), RG_ERR_ARG);
  RGT_TRUE(r.draw == 7 && w == 5 && x == 5);
}

/* --- distributions ---------------------------------------------------------------------------- */

static double x[MANY];

static int ascending(const void *a, const void *b) {
  double u = *(const double *)a, v = *(const double *)b;
  return (u > v) - (u < v);
}

/* The largest distance from the distribution, times sqrt(MANY): above 1.95 one time in a thousand
 * (Kolmogorov). */
static double distance(int normal) {
  double most = 0;
  qsort(x, MANY, sizeof *x, ascending);
  for (int i = 0; i < MANY; i++) {
    double p = normal ? erfc(-x[i] / sqrt(2)) / 2 : x[i];
    most = fmax(most, fmax(p - (double)i / MANY, (i + 1.0) / MANY - p));
  }
  return most * sqrt(MANY);
}

/* The mean of (x - shift)^power is expected, within five times its standard deviation. */
static void check_moment(double shift, int power, double expected, double deviation) {
  double sum = 0;
  for (int i = 0; i < MANY; i++)
    sum += pow(x[i] - shift, power);
  RGT_DBL(sum / MANY, expected, 5 * deviation / sqrt(MANY));
}

static void test_uniform(void) {
  for (int i = 0; i < MANY / 5; i++) { /* over walkers, steps and draws */
    rg_random r = {.seed = 5, .walker = (uint64_t)i % 3, .step = (uint64_t)i / 3};
    RGT_OK(rg_random_uniform(&r, 5, &x[5 * i]));
  }
  check_moment(0.5, 1, 0, sqrt(1 / 12.0));
  check_moment(0.5, 2, 1 / 12.0, sqrt(1 / 180.0));
  RGT_TRUE(distance(0) < 1.95);
  RGT_TRUE(x[0] > 0 && x[MANY - 1] < 1);
}

static void test_normal(void) {
  for (int i = 0; i < MANY / 5; i++) {
    rg_random r = {.seed = 6, .walker = (uint64_t)i % 7, .step = (uint64_t)i / 7};
    RGT_OK(rg_random_normal(&r, 5, &x[5 * i]));
  }
  check_moment(0, 1, 0, 1);
  check_moment(0, 2, 1, sqrt(2));
  check_moment(0, 3, 0, sqrt(15));
  check_moment(0, 4, 3, sqrt(96));
  RGT_TRUE(distance(1) < 1.95);
}

/* Frequencies of the faces of a die: chi squared with 5 degrees is above 20.5 once in a thousand.
 */
static void test_integers(void) {
  static uint64_t face[MANY];
  int64_t often[6] = {0};
  double chi = 0;
  rg_random r = {.seed = 7};
  RGT_OK(rg_random_integer(&r, 6, MANY, face));
  for (int i = 0; i < MANY; i++)
    often[face[i]]++;
  for (int k = 0; k < 6; k++)
    chi += pow((double)often[k] - MANY / 6.0, 2) / (MANY / 6.0);
  RGT_TRUE(chi < 20.5);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"known answers", test_known_answers},
                                   {"vectors", test_vectors},
                                   {"definition", test_definition},
                                   {"jumps", test_jumps},
                                   {"interval", test_interval},
                                   {"without bias", test_without_bias},
                                   {"wrong use", test_wrong_use},
                                   {"uniform", test_uniform},
                                   {"normal", test_normal},
                                   {"integers", test_integers},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "random", tests);
}
