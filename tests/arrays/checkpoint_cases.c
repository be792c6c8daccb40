/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Checkpoints: written on one group and read on another, with any arrays; what is changed
 * after the start is not in them; what happens to damaged ones. */
#include "checkpoint_cases.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "checkpoint/claim.h"
#include "draw_spec.h"
#include "runtime/runtime.h"
#include "tests/check/check.h"

enum { MOST = 3, STATE = 100 };

/* A group of some ranks side by side, drawn alike on all; NULL elsewhere. */
static rg_group draw_group(int tag, int *members) {
  rg_group g = NULL;
  int first = (int)rgt_below(rgt_size), last = first + (int)rgt_below(rgt_size - first);
  *members = last - first + 1;
  if (first <= rgt_rank && rgt_rank <= last)
    RGT_OK(rg_group_create_range(rgt_world, first, last, 1, tag, &g));
  return g;
}

/* --- round trips ------------------------------------------------------------------- */

static struct {
  int n;
  size_t bytes;
  rgt_drawn drawn[MOST];
} plan;

static void make(rg_group g, unsigned seed, rg_array arrays[]) {
  for (int i = 0; i < plan.n; i++) {
    RGT_OK(rg_array_create(g, &plan.drawn[i].spec, &arrays[i]));
    rgt_fill(arrays[i], seed + (unsigned)i);
  }
}

static void forget(rg_array arrays[]) {
  for (int i = 0; i < plan.n; i++)
    RGT_OK(rg_array_free(&arrays[i]));
}

static void end(rg_checkpoint *checkpoint, int by_test) {
  int done = 0;
  while (by_test && !done && RGT_OK(rg_checkpoint_test(checkpoint, &done)))
    continue;
  RGT_OK(rg_checkpoint_wait(checkpoint));
  RGT_PTR_NULL(*checkpoint);
}

static void write_one(rg_group g, const char *path, unsigned seed, int by_test) {
  rg_array arrays[MOST];
  rg_checkpoint c = NULL;
  char state[STATE];
  int rank;
  RGT_OK(rg_group_rank(g, &rank));
  memset(state, rank == 0 ? (int)(seed % 100) : 101, sizeof state); /* rank 0's counts */
  make(g, seed, arrays);
  RGT_OK(rg_checkpoint_start(g, path, plan.n, arrays, state, plan.bytes, &c));
  memset(state, 102, sizeof state);
  end(&c, by_test);
  forget(arrays);
}

static void read_one(rg_group g, const char *path, unsigned seed) {
  rg_array arrays[MOST];
  char state[STATE] = "";
  int found = 0;
  make(g, ~seed, arrays);
  RGT_OK(rg_checkpoint_load(g, path, plan.n, arrays, plan.bytes, state, &found));
  RGT_INT(found, 1);
  for (int i = 0; i < plan.n; i++)
    RGT_INT(rgt_wrong_bytes(arrays[i], seed + (unsigned)i), 0);
  for (size_t i = 0; i < plan.bytes; i++)
    RGT_INT(state[i], seed % 100);
  forget(arrays);
}

static void trip(int round) {
  int members, readers;
  unsigned seed = (unsigned)random();
  char path[400], name[20];
  snprintf(name, sizeof name, "trip%d", round); /* groups without a common member write */
  snprintf(path, sizeof path, "%s", rgt_path(name));
  rg_group writing = draw_group(2 * round, &members);
  plan.n = (int)rgt_below(MOST + 1);
  plan.bytes = (size_t)rgt_below(STATE + 1);
  for (int i = 0; i < plan.n; i++) {
    rgt_draw_shape(&plan.drawn[i]);
    rgt_draw_layout(&plan.drawn[i], members);
  }
  if (writing)
    write_one(writing, path, seed, round % 2);
  MPI_Barrier(MPI_COMM_WORLD);
  rg_group reading = draw_group(2 * round + 1, &readers);
  for (int i = 0; i < plan.n; i++)
    rgt_draw_layout(&plan.drawn[i], readers);
  if (reading)
    read_one(reading, path, seed);
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_group_free(&writing));
  RGT_OK(rg_group_free(&reading));
}

void test_checkpoint_trips(void) {
  srandom((unsigned)rgt_seed());
  for (int i = 0; i < 20; i++) {
    trip(i);
    RGT_INT(rgt_file_count(), 2 * (i + 1)); /* a generation and the lock */
  }
}

/* --- one array -------------------------------------------------------------------------- */

static rg_array one_array(unsigned seed) {
  rg_array a = NULL;
  RGT_OK(rg_array_create_simple(rgt_world, RG_TYPE_INT32, 2, (int64_t[]){60, 50}, &a));
  rgt_fill(a, seed);
  return a;
}

static void save(rg_array a, const char *path, int64_t step) {
  rg_checkpoint c = NULL;
  RGT_OK(rg_checkpoint_start(rgt_world, path, 1, &a, &step, sizeof step, &c));
  RGT_OK(rg_checkpoint_wait(&c));
}

/* Which step is found, and whether the array is that of it. */
static void finds(const char *path, int64_t step, unsigned seed) {
  rg_array a = one_array(99);
  int64_t found_step = -1;
  int found = 0;
  RGT_OK(rg_checkpoint_load(rgt_world, path, 1, &a, sizeof step, &found_step, &found));
  RGT_INT(found, 1);
  RGT_INT(found_step, step);
  RGT_INT(rgt_wrong_bytes(a, seed), 0);
  RGT_OK(rg_array_free(&a));
}

/* As soon as start has returned, the program may change the arrays again, other members too. */
void test_checkpoint_changes(void) {
  const char *path = rgt_path("changes");
  rg_array a = one_array(1);
  int32_t *other = calloc(60 * 50, sizeof *other);
  rg_checkpoint c = NULL;
  int64_t step = 7;
  for (int round = 0; round < 5; round++) {
    rgt_fill(a, 1 + (unsigned)round);
    RGT_OK(rg_checkpoint_start(rgt_world, path, 1, &a, &step, sizeof step, &c));
    step = 8;
    RGT_OK(rg_array_put(a, (int64_t[]){0, 0}, (int64_t[]){60, 50}, other, NULL));
    RGT_OK(rg_checkpoint_wait(&c));
    RGT_OK(rg_array_sync(a));
    step = 7;
    finds(path, 7, 1 + (unsigned)round);
  }
  free(other);
  RGT_OK(rg_array_free(&a));
}

static void spoil(const char *path, long at) {
  char byte = 0;
  FILE *f = rgt_rank == 0 ? fopen(path, "rb") : NULL;
  if (f) {
    fseek(f, at, SEEK_SET);
    byte = (char)(fgetc(f) ^ 0x40);
    fclose(f);
  }
  MPI_Bcast(&byte, 1, MPI_CHAR, 0, MPI_COMM_WORLD);
  rgt_spoil(path, at, &byte, 1);
}

static void finds_nothing_whole(const char *path, const char *word) {
  rg_array a = one_array(99);
  int64_t step = -1;
  int found = -1;
  RGT_FAILS(rg_checkpoint_load(rgt_world, path, 1, &a, sizeof step, &step, &found), RG_ERR_FILE);
  RGT_INT(step, -1);
  RGT_INT(found, -1);
  if (!strstr(rg_error_detail(), word))
    RGT_STR(rg_error_detail(), word);
  RGT_OK(rg_array_free(&a));
}

/* The newest is taken; a damaged one is not; the next one takes the damaged one's place. */
void test_checkpoint_generations(void) {
  const char *path = rgt_path("ages"), *first = rgt_path("ages.0"), *second = rgt_path("ages.1");
  rg_array a = one_array(1);
  save(a, path, 1);
  finds(path, 1, 1);
  rgt_fill(a, 2);
  save(a, path, 2);
  finds(path, 2, 2);
  spoil(second, 4096 + 17); /* an element */
  finds(path, 1, 1);
  rgt_fill(a, 3);
  save(a, path, 3); /* the first one was loaded, so it is whole: the second one is replaced */
  finds(path, 3, 3);
  rgt_fill(a, 4);
  save(a, path, 4);
  spoil(first, 70); /* the head */
  finds(path, 3, 3);
  rgt_fill(a, 5);
  save(a, path, 5); /* the next one replaces the damaged one */
  finds(path, 5, 5);
  rgt_resize(first, 5000);
  finds(path, 3, 3);
  spoil(second, 0);
  finds_nothing_whole(path, "no complete checkpoint");
  finds_nothing_whole(path, "truncated");
  save(a, path, 6);
  finds(path, 6, 5);
  RGT_OK(rg_array_free(&a));
}

/* A process that knows nothing of the files reads them before it replaces one: a good head does not
 * make a good generation. The other spelling of the path is one that it does not know. */
void test_checkpoint_unknown(void) {
  char path[400], same[400], third[400];
  rg_array a = one_array(1);
  snprintf(path, sizeof path, "%s", rgt_path("old"));
  snprintf(same, sizeof same, "%s", rgt_path("./old"));
  snprintf(third, sizeof third, "%s", rgt_path(".//old"));
  save(a, path, 1);
  rgt_fill(a, 2);
  save(a, path, 2);
  spoil(rgt_path("old.1"), 4096 + 17);
  rgt_fill(a, 3);
  rgt_spoil(rgt_path("old.part.3"), 0, "x", 1); /* left by one that died as it claimed */
  save(a, same, 3);                             /* in the place of the damaged one */
  RGT_TRUE(access(rgt_path("old.part.3"), F_OK) != 0);
  spoil(rgt_path("old.1"), 4096 + 17);
  finds(path, 1, 1);
  save(a, same, 4);
  rgt_fill(a, 5);
  save(a, third, 5); /* both are whole: the older one is replaced */
  spoil(rgt_path("old.1"), 4096 + 17);
  finds(path, 4, 3);
  RGT_OK(rg_array_free(&a));
}

/* Two parts of a job that know nothing of one another: the one that is the last to load a
 * checkpoint and go on is the only one that can write. */
void test_checkpoint_cut_off(void) {
  const char *path = rgt_path("cut");
  rg_group part = NULL;
  rg_array a = NULL;
  rg_checkpoint c = NULL;
  int late = rgt_rank >= rgt_size / 2, found = 0, files = rgt_file_count();
  int64_t step = 1, n = 100;
  if (rgt_size == 1)
    return;
  RGT_OK(rg_group_split(rgt_world, late, 0, &part));
  RGT_OK(rg_array_create_simple(part, RG_TYPE_INT64, 1, &n, &a));
  RGT_OK(rg_array_fill(a, NULL, NULL, &step));
  if (!late) { /* the early part writes one, and begins another */
    RGT_OK(rg_checkpoint_start(part, path, 1, &a, &step, sizeof step, &c));
    RGT_OK(rg_checkpoint_wait(&c));
    step = 2;
    RGT_OK(rg_checkpoint_start(part, path, 1, &a, &step, sizeof step, &c));
  }
  RGT_OK(rg_barrier(rgt_world));
  if (late) { /* the late part goes on from the first one */
    RGT_OK(rg_checkpoint_load(part, path, 1, &a, sizeof step, &step, &found));
    RGT_INT(step, 1);
    step = 3;
    RGT_OK(rg_checkpoint_start(part, path, 1, &a, &step, sizeof step, &c));
  }
  RGT_OK(rg_barrier(rgt_world));
  if (!late) {
    RGT_FAILS(rg_checkpoint_wait(&c), RG_ERR_FILE);
    RGT_TRUE(strstr(rg_error_detail(), "cut off") != NULL);
    RGT_FAILS(rg_checkpoint_start(part, path, 1, &a, &step, sizeof step, &c), RG_ERR_FILE);
    RGT_TRUE(strstr(rg_error_detail(), "cut off") != NULL);
    /* As of another job: that a death may have hidden a claim of its own excuses no claim of this
     * one. */
    rgi_runtime.job ^= 2;
    rgi_claim_note(path, (rgi_claim_known){.failed = 1});
    RGT_FAILS(rg_checkpoint_start(part, path, 1, &a, &step, sizeof step, &c), RG_ERR_FILE);
    RGT_TRUE(strstr(rg_error_detail(), "cut off") != NULL);
    /* Nor do its survivors become those that go on by loading what the other one has written. */
    RGT_FAILS(rg_checkpoint_load(part, path, 1, &a, sizeof step, &step, &found), RG_ERR_FILE);
    RGT_TRUE(strstr(rg_error_detail(), "cut off") != NULL);
    /* Also where they have loaded since they wrote, and the other one has begun after that. */
    rgi_claim_note(path, (rgi_claim_known){.loaded = 1});
    RGT_FAILS(rg_checkpoint_load(part, path, 1, &a, sizeof step, &step, &found), RG_ERR_FILE);
    rgi_runtime.job ^= 2;
    rgi_claim_note(path, (rgi_claim_known){0});
    RGT_PTR_NULL(c);
  }
  RGT_OK(rg_barrier(rgt_world));
  for (; late && step < 6; step++) {
    RGT_OK(rg_checkpoint_wait(&c));
    RGT_OK(rg_checkpoint_start(part, path, 1, &a, &step, sizeof step, &c));
  }
  RGT_OK(rg_checkpoint_wait(&c));
  RGT_OK(rg_barrier(rgt_world));
  RGT_INT(rgt_file_count(), files + 3); /* no unfinished file is left */
  RGT_OK(rg_checkpoint_load(part, path, 1, &a, sizeof step, &step, &found));
  RGT_INT(step, 5);
  RGT_OK(rg_barrier(rgt_world));
  RGT_OK(rg_array_free(&a));
  RGT_OK(rg_group_free(&part));
}

void test_checkpoint_errors(void) {
  const char *path = rgt_path("errors");
  rg_array a = one_array(1), b = NULL;
  rg_checkpoint c = NULL, d = NULL;
  int found = -1, done = 0, state[4] = {0};
  RGT_OK(rg_checkpoint_load(rgt_world, path, 1, &a, 0, NULL, &found));
  RGT_INT(found, 0); /* none at all */
  RGT_INT(rgt_wrong_bytes(a, 1), 0);
  RGT_OK(rg_checkpoint_start(rgt_world, path, 1, &a, NULL, 0, &c));
  RGT_FAILS(rg_checkpoint_start(rgt_world, path, 1, &a, NULL, 0, &d), RG_ERR_ARG);
  RGT_OK(rg_checkpoint_wait(&c));
  RGT_OK(rg_checkpoint_test(&c, &done));
  RGT_INT(done, 1);
  RGT_FAILS(rg_checkpoint_load(rgt_world, path, 0, NULL, 0, NULL, &found), RG_ERR_FILE);
  RGT_FAILS(rg_checkpoint_load(rgt_world, path, 1, &a, 4, state, &found), RG_ERR_FILE);
  RGT_OK(rg_array_create_simple(rgt_world, RG_TYPE_INT32, 2, (int64_t[]){61, 50}, &b));
  RGT_FAILS(rg_checkpoint_load(rgt_world, path, 1, &b, 0, NULL, &found), RG_ERR_FILE);
  RGT_FAILS(rg_checkpoint_start(rgt_world, path, 1, NULL, NULL, 0, &c), RG_ERR_ARG);
  RGT_FAILS(rg_checkpoint_start(rgt_world, NULL, 1, &a, NULL, 0, &c), RG_ERR_ARG);
  RGT_FAILS(rg_checkpoint_start(NULL, path, 1, &a, NULL, 0, &c), RG_ERR_GROUP);
  RGT_FAILS(rg_checkpoint_start(rgt_world, rgt_path("no/folder"), 1, &a, NULL, 0, &c), RG_ERR_FILE);
  if (rgt_size > 1)
    RGT_FAILS(
        rg_checkpoint_start(rgt_world, rgt_rank ? path : rgt_path("other"), 1, &a, NULL, 0, &c),
        RG_ERR_MISMATCH);
  RGT_PTR_NULL(c);
  RGT_INT(rgt_wrong_bytes(a, 1), 0);
  RGT_OK(rg_array_free(&a));
  RGT_OK(rg_array_free(&b));
}

/* One member has a limit on the size of files: all get an error, and the checkpoint before stays.
 */
void test_checkpoint_full(void) {
  const char *path = rgt_path("full");
  rg_array a = one_array(1);
  rg_checkpoint c = NULL;
  struct rlimit old, limit;
  int64_t step = 2;
  save(a, path, 1);
  int before = rgt_file_count(), who = rgt_size - 1, error;
  rgt_fill(a, 2);
  getrlimit(RLIMIT_FSIZE, &old);
  limit = old;
  limit.rlim_cur = 4096 + 100;
  signal(SIGXFSZ, SIG_IGN);
  if (rgt_rank == who)
    setrlimit(RLIMIT_FSIZE, &limit);
  error = rg_checkpoint_start(rgt_world, path, 1, &a, &step, sizeof step, &c);
  if (!error)
    error = rg_checkpoint_wait(&c);
  setrlimit(RLIMIT_FSIZE, &old);
  RGT_INT(error, RG_ERR_FILE);
  RGT_TRUE(strstr(rg_error_detail(), "full.part") != NULL);
  RGT_INT(rgt_file_count(), before);
  finds(path, 1, 1);
  save(a, path, 2);
  finds(path, 2, 2);
  RGT_OK(rg_array_free(&a));
}
