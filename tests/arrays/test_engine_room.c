/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 2 3 4 7
 * env: MPIR_CVAR_NUM_CLIQUES=2
 * wrap: MPI_Put MPI_Get MPI_Accumulate MPI_Get_accumulate MPI_Rput MPI_Rget MPI_Raccumulate
 * wrap: MPI_Rget_accumulate MPI_Fetch_and_op MPI_Compare_and_swap MPI_Test
 * wrap: MPI_Win_flush MPI_Win_flush_all MPI_Win_flush_local
 * How many operations are under way at one target, of all processes together: counted here, in
 * memory that all share, from MPI's calls, also those that ARMCI makes. No more than are bearable,
 * also where there are more processes than that. */
#include <check.h>
#include <fcntl.h>
#include <regroup.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/heap.h"
#include "engine/rma.h"
#include "runtime/runtime.h"
#include "tests/arrays/engine_calls.h"

enum { MOST_RANKS = 16, MOST_REQUESTS = 400, TIMES = 12, WORDS = 8, ELEMENTS = 10 };

static struct { atomic_int now[MOST_RANKS], most[MOST_RANKS]; /* at each target */ } * all;

static struct {
  int now[MOST_RANKS], most[MOST_RANKS];
  int gets[MOST_RANKS]; /* of now: complete when they are locally complete */
  struct {
    MPI_Request request;
    int target;
  } open[MOST_REQUESTS];
  int n;
  int words_count;
} mine;

/* --- counting ------------------------------------------------------------------------ */

static void count_begun(int target, MPI_Win w) {
  if (w != rgi_rma.window)
    return;
  int n = atomic_fetch_add(&all->now[target], 1) + 1, before = atomic_load(&all->most[target]);
  while (n > before && !atomic_compare_exchange_weak(&all->most[target], &before, n))
    ;
  if (++mine.now[target] > mine.most[target])
    mine.most[target] = mine.now[target];
}

static void count_done(int target, int n) {
  mine.now[target] -= n;
  atomic_fetch_sub(&all->now[target], n);
}

static void forget_requests(int target) {
  for (int i = mine.n - 1; i >= 0; i--)
    if (mine.open[i].target == target)
      mine.open[i] = mine.open[--mine.n];
}

static void keep_request(const MPI_Request *r, int target) {
  mine.open[mine.n].request = *r;
  mine.open[mine.n++].target = target;
}

#define ORIGIN const void *o, int on, MPI_Datatype ot
#define RESULT void *r, int rn, MPI_Datatype rt
#define TARGET int to, MPI_Aint at, int tn, MPI_Datatype tt
#define O o, on, ot
#define R r, rn, rt
#define T to, at, tn, tt

/* MPI's function, and before it the one that stands in for it. */
#define WRAP(name, parameters, arguments, after)                                                   \
  int __real_##name parameters;                                                                    \
  int __wrap_##name parameters;                                                                    \
  int __wrap_##name parameters {                                                                   \
    count_begun(to, w);                                                                            \
    int code = __real_##name arguments;                                                            \
    after;                                                                                         \
    return code;                                                                                   \
  }

WRAP(MPI_Put, (ORIGIN, TARGET, MPI_Win w), (O, T, w), )
WRAP(MPI_Accumulate, (ORIGIN, TARGET, MPI_Op op, MPI_Win w), (O, T, op, w), )
WRAP(MPI_Get, (RESULT, TARGET, MPI_Win w), (R, T, w), mine.gets[to]++)
WRAP(MPI_Get_accumulate, (ORIGIN, RESULT, TARGET, MPI_Op op, MPI_Win w), (O, R, T, op, w),
     mine.gets[to]++)
WRAP(MPI_Rput, (ORIGIN, TARGET, MPI_Win w, MPI_Request *q), (O, T, w, q), keep_request(q, to))
WRAP(MPI_Raccumulate, (ORIGIN, TARGET, MPI_Op op, MPI_Win w, MPI_Request *q), (O, T, op, w, q),
     keep_request(q, to))
WRAP(MPI_Rget, (RESULT, TARGET, MPI_Win w, MPI_Request *q), (R, T, w, q), keep_request(q, to))
WRAP(MPI_Rget_accumulate, (ORIGIN, RESULT, TARGET, MPI_Op op, MPI_Win w, MPI_Request *q),
     (O, R, T, op, w, q), keep_request(q, to))

/* Words are counted where they have their part of what is bearable. */
#define WRAP_WORD(name, parameters, arguments)                                                     \
  int __real_##name parameters;                                                                    \
  int __wrap_##name parameters;                                                                    \
  int __wrap_##name parameters {                                                                   \
    if (mine.words_count)                                                                          \
      count_begun(to, w);                                                                          \
    return __real_##name arguments;                                                                \
  }

WRAP_WORD(MPI_Fetch_and_op,
          (const void *o, void *r, MPI_Datatype t, int to, MPI_Aint at, MPI_Op op, MPI_Win w),
          (o, r, t, to, at, op, w))
WRAP_WORD(MPI_Compare_and_swap,
          (const void *o, const void *c, void *r, MPI_Datatype t, int to, MPI_Aint at, MPI_Win w),
          (o, c, r, t, to, at, w))

int __real_MPI_Test(MPI_Request *q, int *done, MPI_Status *s);
int __wrap_MPI_Test(MPI_Request *q, int *done, MPI_Status *s);
int __wrap_MPI_Test(MPI_Request *q, int *done, MPI_Status *status) {
  MPI_Request was = *q;
  int code = __real_MPI_Test(q, done, status);
  for (int i = 0; i < mine.n && *done; i++)
    if (mine.open[i].request == was) {
      count_done(mine.open[i].target, 1);
      mine.open[i] = mine.open[--mine.n];
      break;
    }
  return code;
}

int __real_MPI_Win_flush(int to, MPI_Win w);
int __wrap_MPI_Win_flush(int to, MPI_Win w);
int __wrap_MPI_Win_flush(int to, MPI_Win w) {
  int code = __real_MPI_Win_flush(to, w);
  if (w == rgi_rma.window) {
    forget_requests(to);
    mine.gets[to] = 0;
    count_done(to, mine.now[to]);
  }
  return code;
}

int __wrap_MPI_Win_flush_all(MPI_Win w);
int __wrap_MPI_Win_flush_all(MPI_Win w) {
  for (int to = 0; to < rgt_size && w == rgi_rma.window; to++)
    __wrap_MPI_Win_flush(to, w);
  return MPI_SUCCESS;
}

int __real_MPI_Win_flush_local(int to, MPI_Win w);
int __wrap_MPI_Win_flush_local(int to, MPI_Win w);
int __wrap_MPI_Win_flush_local(int to, MPI_Win w) {
  int code = __real_MPI_Win_flush_local(to, w);
  if (w == rgi_rma.window) {
    count_done(to, mine.gets[to]);
    mine.gets[to] = 0;
  }
  return code;
}

/* --- the operations ------------------------------------------------------------------------ */

static uint64_t part; /* of a heap part, for each process's own bytes there */

static void move_elements(rgi_access_kind kind, int target, uint64_t to, int64_t *values) {
  uint64_t offsets[ELEMENTS];
  void *origin[ELEMENTS];
  for (int i = 0; i < ELEMENTS; i++) {
    offsets[i] = to + 24 * (uint64_t)i;
    origin[i] = &values[i];
  }
  rgi_transfer_elements e = {.kind = kind,
                             .target = target,
                             .n = ELEMENTS,
                             .offsets = offsets,
                             .origin = origin,
                             .element = sizeof(int64_t),
                             .type = RG_TYPE_INT64};
  RGT_OK(rgi_engine_elements(&e));
}

/* Operations of all kinds that nobody waits for until all have been started. */
static void flood(int target) {
  static int64_t values[TIMES][WORDS], got[TIMES][WORDS], elements[ELEMENTS], found[ELEMENTS];
  rgi_engine_handle put[TIMES], add[TIMES], get[TIMES];
  rgi_strided p = rgi_strided_flat(16);
  uint64_t own = part * (uint64_t)(1 + rgt_rank);
  int64_t before;
  rgi_strided_add(&p, 4, 16, 32);
  for (int i = 0; i < TIMES; i++) {
    uint64_t to = own + 128 * (uint64_t)i;
    for (int k = 0; k < WORDS; k++)
      values[i][k] = 100 * rgt_rank + 10 * i + k;
    RGT_OK(engine_start_put(target, to, values[i], &p, &put[i]));
    RGT_OK(engine_start_acc(target, to, values[i], &p, RG_TYPE_INT64, NULL, &add[i]));
    RGT_OK(engine_fetch_add(target, 0, RG_TYPE_INT64, 1, &before));
    for (int k = 0; k < ELEMENTS; k++)
      elements[k] = i + k;
    move_elements(i ? RGI_ACCESS_KIND_ACC : RGI_ACCESS_KIND_PUT, target, own + 128 * TIMES,
                  elements);
    RGT_OK(engine_start_get(target, to, got[i], &p, &get[i]));
  }
  for (int i = 0; i < TIMES; i++) {
    RGT_OK(rgi_engine_wait(&put[i]));
    RGT_OK(rgi_engine_wait(&add[i]));
    RGT_OK(rgi_engine_wait(&get[i]));
    for (int k = 0; k < WORDS; k++)
      RGT_INT(got[i][k], 2 * values[i][k]);
  }
  move_elements(RGI_ACCESS_KIND_GET, target, own + 128 * TIMES, found);
  for (int k = 0; k < ELEMENTS; k++)
    RGT_INT(found[k], TIMES * (TIMES - 1) / 2 + TIMES * k);
  RGT_OK(rgi_engine_finish());
}

/* part_of: what each process may have under way; 0: none has a part. */
static void run_with(int bearable, int part_of) {
  uint64_t at;
  rgi_rma_bearable = bearable;
  mine.words_count = 0;
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  mine.words_count = part_of > 0;
  part = 128 * TIMES + 24 * ELEMENTS + 64;
  RGT_OK(rgi_heap_take("test", part * (size_t)(1 + rgt_size), &at));
  RGT_INT(at, 0);
  memset(rgi_heap_at(rgt_rank, 0), 0, part * (size_t)(1 + rgt_size));
  memset(mine.most, 0, sizeof mine.most);
  if (rgt_rank == 0)
    memset(all, 0, sizeof *all);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int target = 0; target < rgt_size; target += rgt_size - 1)
    flood(target);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int target = 0; target < rgt_size; target += rgt_size - 1) {
    RGT_INT(atomic_load(&all->now[target]), 0);
    RGT_TRUE(atomic_load(&all->most[target]) <= bearable);
    RGT_TRUE(mine.most[target] <= (part_of ? part_of : 1));
    RGT_TRUE(mine.most[target] >= (part_of > 1 ? 2 : 1));
  }
  RGT_INT(*(int64_t *)rgi_heap_at(rgt_rank, 0),
          rgt_rank == 0 || rgt_rank == rgt_size - 1 ? TIMES * rgt_size : 0);
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_finalize());
}

static void test_parts(void) {
  for (int each = 1; each <= 3; each++)
    run_with(each * rgt_size + rgt_size - 1, each);
}

static void test_gate(void) {
  run_with(1, 0);
  run_with(rgt_size - 1, 0);
}

/* ARMCI makes one operation of each element. */
static void test_one_by_one(void) {
  setenv("ARMCI_IOV_METHOD", "CONSRV", 1);
  run_with(2 * rgt_size, 2);
  run_with(1, 0);
  unsetenv("ARMCI_IOV_METHOD");
}

static void test_map(void) {
  char name[RGT_PATH];
  rgt_temporary(name);
  if (rgt_rank == 0) {
    int fd = mkstemp(name);
    RGT_INT(ftruncate(fd, sizeof *all), 0);
    close(fd);
  }
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  int fd = open(name, O_RDWR);
  all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  RGT_TRUE(all != MAP_FAILED);
  close(fd);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rgt_rank == 0)
    unlink(name);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"map", test_map},
                                   {"parts", test_parts},
                                   {"gate", test_gate},
                                   {"one by one", test_one_by_one},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "engine_room", tests);
}
