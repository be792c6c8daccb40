/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "random.h"

#include <Random123/philox.h>
#include <math.h>

enum { UNIFORM, NORMAL };

static philox4x64_ctr_t random_words(post_random_stream at, uint64_t draw, uint64_t kind) {
  philox4x64_ctr_t counter = {{draw, at.step, at.chain, kind}};
  philox4x64_key_t key = {{at.seed, 0}};
  return philox4x64(counter, key);
}

static double unit_interval(uint64_t word) {
  return ((double)(word >> 11) + 0.5) * 0x1p-53;
}

double post_random_uniform(post_random_stream at, uint64_t draw) {
  return unit_interval(random_words(at, draw / 4, UNIFORM).v[draw % 4]);
}

/* Four words make two pairs (Box and Muller). */
void post_random_normals(post_random_stream at, int n, double out[]) {
  philox4x64_ctr_t four = {{0}};
  for (int i = 0; i < n; i += 2) {
    if (i % 4 == 0)
      four = random_words(at, (uint64_t)i / 4, NORMAL);
    double radius = sqrt(-2 * log(unit_interval(four.v[i % 4])));
    double angle = 2 * 3.14159265358979323846 * unit_interval(four.v[i % 4 + 1]);
    out[i] = radius * cos(angle);
    if (i + 1 < n)
      out[i + 1] = radius * sin(angle);
  }
}
