/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * links: regroup-mpi
 * sources: tests/memory/shortage.c
 * wrap: malloc calloc realloc strdup strndup asprintf free
 * wrap: rgi_arena_alloc rgi_arena_alloc_for rgi_arena_alloc_brief rgi_arena_alloc_placed
 * wrap: rgi_arena_heap_commit
 * MPI's calls that the preloaded library serves, while a process lacks memory: test_memory.py. The
 * first collective on a communicator makes its group; the calls "again" find it there. */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>

#include "tests/check/check.h"
#include "tests/memory/shortage.h"

enum { MOST = 8, N = 50 };

static MPI_Comm comm = MPI_COMM_NULL, made = MPI_COMM_NULL;
static double in[MOST * N], out[MOST * N];
static int counts[MOST], displs[MOST];

/* Where there is no memory for its layout a type is an error. */
static int code_of(int mpi) {
  int class = MPI_SUCCESS;
  if (mpi != MPI_SUCCESS)
    MPI_Error_class(mpi, &class);
  return class == MPI_SUCCESS                               ? RG_SUCCESS
         : class == MPI_ERR_NO_MEM || class == MPI_ERR_TYPE ? RG_ERR_NOMEM
                                                            : RG_ERR_MPI;
}

static int fresh(void) {
  for (int i = 0; i < MOST * N; i++) {
    in[i] = rgt_rank + 100 * (i / N);
    out[i] = -1;
  }
  for (int i = 0; i < MOST; i++) {
    counts[i] = N;
    displs[i] = i * N;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return code_of(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
}

static int again(void) {
  int error = fresh();
  return error ? error : code_of(MPI_Barrier(comm));
}

static int free_comms(void) {
  if (made != MPI_COMM_NULL)
    MPI_Comm_free(&made);
  return code_of(MPI_Comm_free(&comm));
}

/* --- collectives ---------------------------------------------------------------------------- */

static int has(int i, double value) {
  return out[i * N] == value && out[(i + 1) * N - 1] == value;
}

static int is_last(void) {
  return rgt_rank == rgt_size - 1;
}

static int sum(void) {
  return rgt_size * (rgt_size - 1) / 2;
}

static int summed(void) {
  return has(0, sum());
}

static int summed_at_last(void) {
  return !is_last() || summed();
}

static int own_block_summed(void) {
  return has(0, sum() + 100 * rgt_rank * rgt_size);
}

static int gathered(void) {
  int good = 1;
  for (int i = 0; i < rgt_size; i++)
    good &= has(i, i);
  return good;
}

static int gathered_at_last(void) {
  return !is_last() || gathered();
}

static int scattered(void) {
  return has(0, rgt_size - 1 + 100 * rgt_rank);
}

static int exchanged(void) {
  int good = 1;
  for (int i = 0; i < rgt_size; i++)
    good &= has(i, i + 100 * rgt_rank);
  return good;
}

static int scanned(void) {
  return has(0, rgt_rank * (rgt_rank + 1) / 2);
}

static int scanned_before(void) {
  return rgt_rank == 0 || has(0, rgt_rank * (rgt_rank - 1) / 2);
}

static int broadcast(void) {
  return in[0] == rgt_size - 1 && in[N - 1] == rgt_size - 1;
}

#define CALL(name, function, ...)                                                                  \
  static int name(void) {                                                                          \
    return code_of(function(__VA_ARGS__));                                                         \
  }
#define D MPI_DOUBLE
CALL(barrier, MPI_Barrier, comm)
CALL(bcast, MPI_Bcast, in, N, D, rgt_size - 1, comm)
CALL(reduce, MPI_Reduce, in, out, N, D, MPI_SUM, rgt_size - 1, comm)
CALL(allreduce, MPI_Allreduce, in, out, N, D, MPI_SUM, comm)
CALL(gather, MPI_Gather, in, N, D, out, N, D, rgt_size - 1, comm)
CALL(gatherv, MPI_Gatherv, in, N, D, out, counts, displs, D, rgt_size - 1, comm)
CALL(scatter, MPI_Scatter, in, N, D, out, N, D, rgt_size - 1, comm)
CALL(scatterv, MPI_Scatterv, in, counts, displs, D, out, N, D, rgt_size - 1, comm)
CALL(allgather, MPI_Allgather, in, N, D, out, N, D, comm)
CALL(allgatherv, MPI_Allgatherv, in, N, D, out, counts, displs, D, comm)
CALL(alltoall, MPI_Alltoall, in, N, D, out, N, D, comm)
CALL(alltoallv, MPI_Alltoallv, in, counts, displs, D, out, counts, displs, D, comm)
CALL(reduce_scatter, MPI_Reduce_scatter, in, out, counts, D, MPI_SUM, comm)
CALL(reduce_scatter_block, MPI_Reduce_scatter_block, in, out, N, D, MPI_SUM, comm)
CALL(scan, MPI_Scan, in, out, N, D, MPI_SUM, comm)
CALL(exscan, MPI_Exscan, in, out, N, D, MPI_SUM, comm)

/* --- a communicator ------------------------------------------------------------------------- */

static int create_group(void) {
  MPI_Group group;
  MPI_Comm_group(comm, &group);
  int code = MPI_Comm_create_group(comm, group, 3, &made);
  MPI_Group_free(&group);
  return code_of(code);
}

static int made_works(void) {
  int me = rgt_rank, total = -1;
  MPI_Allreduce(&me, &total, 1, MPI_INT, MPI_SUM, made);
  return total == sum();
}

/* --- windows -------------------------------------------------------------------------------- */

static MPI_Win window = MPI_WIN_NULL;
static double *memory, *block;
static MPI_Datatype gaps = MPI_DATATYPE_NULL;

static int free_window(void) {
  int code = window == MPI_WIN_NULL ? MPI_SUCCESS : MPI_Win_free(&window);
  if (block)
    MPI_Free_mem(block);
  if (gaps != MPI_DATATYPE_NULL)
    MPI_Type_free(&gaps);
  block = memory = NULL;
  int error = free_comms();
  return code ? code_of(code) : error;
}

static int with_block(void) {
  int error = again();
  return error ? error : code_of(MPI_Alloc_mem(N * sizeof *block, MPI_INFO_NULL, &block));
}

CALL(alloc_mem, MPI_Alloc_mem, N * sizeof *block, MPI_INFO_NULL, &block)
CALL(win_create, MPI_Win_create, block, N * sizeof *block, sizeof *block, MPI_INFO_NULL, comm,
     &window)
CALL(win_allocate, MPI_Win_allocate, N * sizeof *block, sizeof *block, MPI_INFO_NULL, comm, &memory,
     &window)
CALL(win_allocate_shared, MPI_Win_allocate_shared, N * sizeof *block, sizeof *block, MPI_INFO_NULL,
     comm, &memory, &window)

/* Every second number. */
static int with_window(void) {
  int error = again();
  error = error ? error : win_allocate();
  if (error)
    return error;
  MPI_Type_vector(N / 2, 1, 2, MPI_DOUBLE, &gaps);
  MPI_Type_commit(&gaps);
  for (int i = 0; i < N; i++)
    memory[i] = rgt_rank;
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  return code_of(MPI_Win_fence(0, window));
}

static int window_works(void) {
  double value = -1, mine = rgt_rank;
  int next = (rgt_rank + 1) % rgt_size;
  MPI_Win_fence(0, window);
  MPI_Put(&mine, 1, MPI_DOUBLE, rgt_rank, 0, 1, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Get(&value, 1, MPI_DOUBLE, next, 0, 1, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  return value == next;
}

static int next(void) {
  return (rgt_rank + 1) % rgt_size;
}

/* Again where it has failed. */
#define ACCESS(name, function, ...)                                                                \
  static int name(void) {                                                                          \
    int code = function(__VA_ARGS__);                                                              \
    shortage_over();                                                                               \
    int again = code ? function(__VA_ARGS__) : code;                                               \
    MPI_Win_fence(0, window);                                                                      \
    return again ? RG_ERR_INTERNAL : code_of(code);                                                \
  }
ACCESS(put, MPI_Put, in, 1, gaps, next(), 0, 1, gaps, window)
ACCESS(get, MPI_Get, out, 1, gaps, next(), 0, 1, gaps, window)
ACCESS(accumulate, MPI_Accumulate, in, 1, gaps, next(), 0, 1, gaps, MPI_SUM, window)
ACCESS(get_accumulate, MPI_Get_accumulate, in, 1, gaps, out, 1, gaps, next(), 0, 1, gaps, MPI_SUM,
       window)
ACCESS(fetch_and_op, MPI_Fetch_and_op, in, out, MPI_DOUBLE, next(), 0, MPI_SUM, window)
ACCESS(win_fence, MPI_Win_fence, 0, window)
ACCESS(set_name, MPI_Win_set_name, window, "a window")
ACCESS(set_errhandler, MPI_Win_set_errhandler, window, MPI_ERRORS_RETURN)

static int got_next(void) {
  return out[0] == next() && out[N - 2] == next();
}

static int lock_and_put(void) {
  int code = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next(), 0, window);
  if (!code) {
    code = MPI_Put(in, 1, gaps, next(), 0, 1, gaps, window);
    int flushed = MPI_Win_flush(next(), window), unlocked = MPI_Win_unlock(next(), window);
    code = code ? code : flushed ? flushed : unlocked;
  }
  return code_of(code);
}

static int lock_window(void) {
  int error = with_window();
  return error ? error : code_of(MPI_Win_fence(MPI_MODE_NOSUCCEED, window));
}

/* The group includes the process itself. */
static int exposed(void) {
  MPI_Group group;
  MPI_Comm_group(comm, &group);
  int posted = MPI_Win_post(group, 0, window);
  if (posted != MPI_SUCCESS) {
    shortage_over();
    MPI_Win_post(group, 0, window);
  }
  int started = MPI_Win_start(group, 0, window);
  shortage_over();
  if (started != MPI_SUCCESS)
    MPI_Win_start(group, 0, window);
  MPI_Win_complete(window);
  MPI_Win_wait(window);
  MPI_Group_free(&group);
  return code_of(posted ? posted : started);
}

static int attributes(void) {
  int key, value = 5, *found = NULL, flag = 0;
  MPI_Group group = MPI_GROUP_NULL;
  int code = MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
  if (code)
    return code_of(code);
  code = MPI_Win_set_attr(window, key, &value);
  if (!code)
    code = MPI_Win_get_attr(window, key, &found, &flag);
  int deleted = MPI_Win_delete_attr(window, key), asked = MPI_Win_get_group(window, &group);
  if (group != MPI_GROUP_NULL)
    MPI_Group_free(&group);
  MPI_Win_free_keyval(&key);
  return code_of(code ? code : deleted ? deleted : asked);
}

#define BOTH(name, right)                                                                          \
  {"MPI_" #name, SHORTAGE_SOME, fresh, name, right, free_comms}, {                                 \
    "MPI_" #name ", again", SHORTAGE_SOME, again, name, right, free_comms                          \
  }
#define ONE SHORTAGE_ONE

static const shortage_call calls[] = {
    BOTH(barrier, NULL),
    BOTH(bcast, broadcast),
    BOTH(reduce, summed_at_last),
    BOTH(allreduce, summed),
    BOTH(gather, gathered_at_last),
    BOTH(gatherv, gathered_at_last),
    BOTH(scatter, scattered),
    BOTH(scatterv, scattered),
    BOTH(allgather, gathered),
    BOTH(allgatherv, gathered),
    BOTH(alltoall, exchanged),
    BOTH(alltoallv, exchanged),
    BOTH(reduce_scatter, own_block_summed),
    BOTH(reduce_scatter_block, own_block_summed),
    BOTH(scan, scanned),
    BOTH(exscan, scanned_before),
    {"MPI_Comm_create_group", SHORTAGE_ALL, again, create_group, made_works, free_comms},
    {"MPI_Alloc_mem", ONE, again, alloc_mem, NULL, free_window},
    {"MPI_Win_create", SHORTAGE_EACH, with_block, win_create, window_works, free_window},
    {"MPI_Win_allocate", SHORTAGE_EACH, fresh, win_allocate, window_works, free_window},
    {"MPI_Win_allocate_shared", SHORTAGE_EACH, again, win_allocate_shared, NULL, free_window},
    {"MPI_Put", ONE, with_window, put, NULL, free_window},
    {"MPI_Get", ONE, with_window, get, got_next, free_window},
    {"MPI_Accumulate", ONE, with_window, accumulate, NULL, free_window},
    {"MPI_Get_accumulate", ONE, with_window, get_accumulate, NULL, free_window},
    {"MPI_Fetch_and_op", ONE, with_window, fetch_and_op, NULL, free_window},
    {"MPI_Win_fence", ONE, with_window, win_fence, NULL, free_window},
    {"MPI_Win_set_name", ONE, with_window, set_name, NULL, free_window},
    {"MPI_Win_set_errhandler", ONE, with_window, set_errhandler, NULL, free_window},
    {"MPI_Win_lock", ONE, lock_window, lock_and_put, NULL, free_window},
    {"MPI_Win_post, MPI_Win_start", ONE, lock_window, exposed, NULL, free_window},
    {"MPI_Win_set_attr", ONE, lock_window, attributes, NULL, free_window},
    {NULL, SHORTAGE_ALL, NULL, NULL, NULL, NULL}};

int main(int argc, char **argv) {
  return shortage_main(argc, argv, "memory_mpi", calls);
}
