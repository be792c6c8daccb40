/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * Every algorithm is worth its code: the cost model chooses it somewhere, for up to a million
 * members and with costs over four decades, or docs/collectives.md teaches it by name. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "collectives/algorithms/choice.h"
#include "collectives/group/operation.h"
#include "tests/check/check.h"

enum { ROWS = 32 };
static int chosen[RG_OP_COUNT][ROWS];

static void choose(const rgi_tuning_model *model, rgi_choice_shape shape) {
  const rgi_algorithm *table = rgi_operation_algorithms[shape.op];
  for (int flags = 0; flags < 8; flags++) {
    shape.commutes = flags & 1;
    shape.whole = !shape.commutes && (flags & 2);
    shape.memory = shape.in_order = (flags & 4) != 0;
    chosen[shape.op][rgi_choice_best(model, table, &shape, 0)]++;
    chosen[shape.op][rgi_choice_best(model, table, &shape, 1)]++; /* a part of a hierarchical one */
  }
}

/* A way inside a node is chosen by its lengths, whatever the costs. */
static void choose_ways(rg_operation op, size_t members, size_t bytes) {
  const rgi_algorithm *table = rgi_operation_algorithms[op];
  const unsigned all = RGI_ALGORITHM_SPINS | RGI_ALGORITHM_LEVELS | RGI_ALGORITHM_READS;
  for (int bits = 0; bits < 8 && table[0].suits; bits++) {
    unsigned lacks = (bits & 1 ? RGI_ALGORITHM_SPINS | RGI_ALGORITHM_LEVELS : 0u) |
                     (bits & 2 ? RGI_ALGORITHM_READS : 0u) |
                     (members <= 8 ? RGI_ALGORITHM_LEVELS : 0u) |
                     (members <= 2 ? RGI_ALGORITHM_THREE : 0u);
    rgi_algorithm_inside call = {bytes, members, lacks & (all | RGI_ALGORITHM_THREE)};
    chosen[op][rgi_choice_way(table, &call) - table]++;
  }
}

static void sweep(rg_operation op) {
  static const double decades[] = {1e-2, 1e-1, 1, 1e1, 1e2};
  for (int p = 2; p <= 1 << 20; p *= 2)
    for (size_t bytes = 1; bytes <= (size_t)1 << 30; bytes *= 8) {
      choose_ways(op, (size_t)p, bytes);
      for (int k = 0; k < 25; k++) {
        rgi_tuning_level level = {1e-6 * decades[k / 5], 1e-9 * decades[k % 5], 1e-10};
        rgi_tuning_level memory = {level.ts / 20, level.tw / 20, level.tc};
        rgi_tuning_model model = {level, level, memory};
        for (int nodes = 1; nodes <= p; nodes *= 16)
          choose(&model, (rgi_choice_shape){.op = op,
                                            .p = p + (k % 2),
                                            .nodes = nodes,
                                            .bytes = op == RG_OP_BARRIER ? 0 : bytes,
                                            .even = 1});
      }
    }
}

static char *read_page(void) {
  static char text[1 << 16];
  FILE *file = fopen("docs/collectives.md", "r");
  size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
  RGT_TRUE(n > 0 && n < sizeof text - 1);
  if (file)
    fclose(file);
  return text;
}

/* In the operation's rows of the table of algorithms. */
static int is_taught(const char *page, rg_operation op, const char *name) {
  char first[64], quoted[64];
  snprintf(first, sizeof first, "\n| %s | `", rg_operation_name(op));
  snprintf(quoted, sizeof quoted, "| `%s` |", name);
  const char *begin = strstr(page, first), *end = begin ? begin + 1 : NULL;
  while (end && (end = strchr(end, '\n')) && strncmp(end, "\n|  |", 5) == 0)
    end++;
  const char *found = begin ? strstr(begin, quoted) : NULL;
  return found && end && found < end;
}

static void test_sweep(void) {
  const char *page = read_page();
  int rows = 0;
  for (int op = 0; op < RG_OP_COUNT; op++) {
    sweep((rg_operation)op);
    for (int i = 0; i < rgi_operation_rows((rg_operation)op); i++, rows++) {
      const char *name = rgi_operation_algorithms[op][i].name;
      int taught = is_taught(page, (rg_operation)op, name);
      if (!RGT_TRUE(chosen[op][i] > 0 || taught))
        fprintf(stderr, "%s=%s is never chosen, nor taught\n", rg_operation_name((rg_operation)op),
                name);
    }
  }
  RGT_TRUE(rows > RG_OP_COUNT && !is_taught(page, RG_OP_BCAST, "rabenseifner"));
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"sweep", test_sweep}, {NULL, NULL}};
  return rgt_main(argc, argv, "coll_sweep", tests);
}
