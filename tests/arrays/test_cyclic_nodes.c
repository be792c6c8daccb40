/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * ranks: 3 7
 * Patches of many small blocks between nodes, and many operations under way at once. */
#include <check.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>

enum {
  SIDE = 600,
  BLOCK_SIDE = 4,
  ROWS = 60,
  COLUMNS = 256,
  TIMES = 8,
  AT_ONCE = 16,
  FLOOD = 3000
};

static rg_group world;
static unsigned long long state;

static int64_t draw(int64_t n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state >> 33) % (unsigned long long)n);
}

static double value(int64_t i, int64_t j, int round) {
  return (double)(i * SIDE + j + 7 * round);
}

static void start(void) {
  state = rgt_seed();
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&world));
}

static void stop(void) {
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
}

static rg_array make(void) {
  int64_t shape[2] = {SIDE, SIDE};
  rg_array_spec spec = {.size = sizeof spec};
  rg_array a = NULL;
  RGT_OK(rg_array_spec_set(&spec, RG_TYPE_DOUBLE, 2, shape));
  spec.layout = RG_LAYOUT_BLOCK_CYCLIC;
  spec.chunk[0] = spec.chunk[1] = BLOCK_SIDE;
  RGT_OK(rg_array_create(world, &spec, &a));
  return a;
}

typedef struct {
  int64_t lo[2], hi[2], ld[1];
} patch;

/* Within the caller's band of rows, so that members do not overlap. */
static patch draw_patch(void) {
  int64_t band = SIDE / rgt_size, rows = 1 + draw(ROWS), columns = 1 + draw(COLUMNS);
  patch p;
  p.lo[0] = rgt_rank * band + draw(band - rows);
  p.lo[1] = draw(SIDE - columns);
  p.hi[0] = p.lo[0] + rows;
  p.hi[1] = p.lo[1] + columns;
  p.ld[0] = columns + draw(3);
  return p;
}

static void fill(const patch *p, int round, double *buf) {
  for (int64_t i = p->lo[0]; i < p->hi[0]; i++)
    for (int64_t j = p->lo[1]; j < p->hi[1]; j++)
      buf[(i - p->lo[0]) * p->ld[0] + j - p->lo[1]] = value(i, j, round);
}

static int64_t wrong(const patch *p, const double *buf, double factor, int round) {
  int64_t n = 0;
  for (int64_t i = p->lo[0]; i < p->hi[0]; i++)
    for (int64_t j = p->lo[1]; j < p->hi[1]; j++)
      n += buf[(i - p->lo[0]) * p->ld[0] + j - p->lo[1]] != factor * value(i, j, round);
  return n;
}

/* Put, accumulate twice and get, waited for at once or later. */
static void test_blocks(void) {
  rg_array a = make();
  double *buf = calloc(ROWS * (COLUMNS + 3), sizeof *buf), twice = 2;
  for (int round = 0; round < TIMES; round++) {
    patch p = draw_patch();
    rg_request r = NULL;
    fill(&p, round, buf);
    if (round % 2) {
      RGT_OK(rg_array_iput(a, p.lo, p.hi, buf, p.ld, &r));
      RGT_OK(rg_wait(&r, NULL));
      RGT_OK(rg_array_iacc(a, p.lo, p.hi, buf, p.ld, &twice, &r));
      RGT_OK(rg_wait(&r, NULL));
      RGT_OK(rg_array_acc(a, p.lo, p.hi, buf, p.ld, NULL));
      memset(buf, 0, ROWS * (COLUMNS + 3) * sizeof *buf);
      RGT_OK(rg_array_iget(a, p.lo, p.hi, buf, p.ld, &r));
      RGT_OK(rg_wait(&r, NULL));
    } else {
      RGT_OK(rg_array_put(a, p.lo, p.hi, buf, p.ld));
      RGT_OK(rg_array_acc(a, p.lo, p.hi, buf, p.ld, &twice));
      RGT_OK(rg_array_iacc(a, p.lo, p.hi, buf, p.ld, NULL, &r));
      RGT_OK(rg_wait(&r, NULL));
      memset(buf, 0, ROWS * (COLUMNS + 3) * sizeof *buf);
      RGT_OK(rg_array_get(a, p.lo, p.hi, buf, p.ld));
    }
    RGT_INT(wrong(&p, buf, 4, round), 0);
  }
  RGT_OK(rg_array_sync(a));
  free(buf);
  RGT_OK(rg_array_free(&a));
}

/* Many large ones under way at once: all members read everywhere. */
static void test_at_once(void) {
  rg_array a = make();
  patch all = {{0, 0}, {SIDE, SIDE}, {SIDE}}, p[AT_ONCE];
  double *buf = calloc(SIDE * SIDE, sizeof *buf), *got[AT_ONCE];
  rg_request r[AT_ONCE];
  fill(&all, 0, buf);
  if (rgt_rank == 0)
    RGT_OK(rg_array_put(a, all.lo, all.hi, buf, NULL));
  RGT_OK(rg_array_sync(a));
  for (int i = 0; i < AT_ONCE; i++) {
    p[i] = draw_patch();
    got[i] = calloc(ROWS * (COLUMNS + 3), sizeof **got);
    RGT_OK(rg_array_iget(a, p[i].lo, p[i].hi, got[i], p[i].ld, &r[i]));
  }
  RGT_OK(rg_wait_all(AT_ONCE, r, NULL));
  for (int i = 0; i < AT_ONCE; i++) {
    RGT_INT(wrong(&p[i], got[i], 1, 0), 0);
    free(got[i]);
  }
  RGT_OK(rg_array_sync(a));
  free(buf);
  RGT_OK(rg_array_free(&a));
}

/* The same for requests that the program itself has in such numbers. */
static void test_many_requests(void) {
  rg_array a = make();
  double *buf = calloc(FLOOD * 2, sizeof *buf);
  rg_request *r = calloc(FLOOD, sizeof *r);
  int64_t band = SIDE / rgt_size;
  for (int get = 0; get < 2; get++) {
    for (int64_t i = 0; i < FLOOD; i++) {
      int64_t lo[2] = {rgt_rank * band + i % band, 2 * (i / band) * BLOCK_SIDE + 1};
      int64_t hi[2] = {lo[0] + 1, lo[1] + 2};
      if (!get)
        buf[2 * i] = value(i, 0, rgt_rank), buf[2 * i + 1] = value(i, 1, rgt_rank);
      RGT_OK(get ? rg_array_iget(a, lo, hi, buf + 2 * i, NULL, &r[i])
                 : rg_array_iput(a, lo, hi, buf + 2 * i, NULL, &r[i]));
    }
    RGT_OK(rg_wait_all(FLOOD, r, NULL));
    if (!get)
      memset(buf, 0, FLOOD * 2 * sizeof *buf);
  }
  int64_t bad = 0;
  for (int64_t i = 0; i < FLOOD; i++)
    bad += buf[2 * i] != value(i, 0, rgt_rank) || buf[2 * i + 1] != value(i, 1, rgt_rank);
  RGT_INT(bad, 0);
  RGT_OK(rg_array_sync(a));
  free(r);
  free(buf);
  RGT_OK(rg_array_free(&a));
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", start},
                                   {"blocks", test_blocks},
                                   {"at once", test_at_once},
                                   {"many requests", test_many_requests},
                                   {"stop", stop},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "cyclic_nodes", tests);
}
