/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * sources: tests/memory/shortage.c
 * wrap: malloc calloc realloc strdup strndup asprintf free
 * wrap: rgi_arena_alloc rgi_arena_alloc_for rgi_arena_alloc_brief rgi_arena_alloc_placed
 * wrap: rgi_arena_heap_commit
 * Processes in reserve while one of the others lacks memory: test_memory.py. Each attempt starts
 * the library anew, and the last process is in reserve. It
 * sleeps until the reserve has ended, or until it has been acquired and the reserve has ended. */
#include <mpi.h>
#include <regroup.h>
#include <regroup/intercomm.h>
#include <regroup/recovery.h>
#include <regroup/reserve.h>

#include "tests/check/check.h"
#include "tests/memory/shortage.h"

static rg_group team, grown;
static MPI_Comm comm = MPI_COMM_NULL, inter = MPI_COMM_NULL;
static int acquired;

static int stop(void) {
  int error = rg_group_free(&shortage_group);
  error = error ? error : rg_group_free(&shortage_world);
  return error ? error : rg_finalize();
}

static int start(void) {
  return rg_init(MPI_COMM_WORLD, NULL);
}

/* Starts the library if it does not run, and makes what an attempt begins with. */
static int make_groups(void) {
  int runs = 0, error = rg_initialized(&runs);
  error = error || runs ? error : start();
  error = error ? error : rg_group_world(&shortage_world);
  return error ? error : rg_group_dup(shortage_world, &shortage_group);
}

static int start_anew(void) {
  int error = stop();
  return error ? error : make_groups();
}

static int is_asleep(void) {
  return rgt_size > 1 && rgt_rank == rgt_size - 1;
}

static int open_reserve(void) {
  acquired = 0;
  return rg_reserve_open(rgt_size > 1, &team);
}

static int begin(void) {
  int error = start_anew();
  error = error ? error : open_reserve();
  if (!error && MPI_Comm_split(MPI_COMM_WORLD, is_asleep(), 0, &comm))
    error = RG_ERR_MPI;
  return error;
}

/* Sleeps until the reserve has ended. */
static int sleep_on(void) {
  rg_acquisition drawn = {.size = sizeof drawn};
  shortage_over();
  for (;;) {
    int error = rg_reserve_park(&drawn);
    if (error || (!drawn.group && drawn.parent == MPI_COMM_NULL))
      return error;
    acquired++;
    if (drawn.parent != MPI_COMM_NULL)
      MPI_Comm_free(&drawn.parent);
    error = rg_group_free(&drawn.group);
    if (error)
      return error;
  }
}

/* The code of the others is that of the process in reserve, too. */
static int for_all(int code) {
  int one = code;
  shortage_over();
  MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return is_asleep() && !code ? one : code;
}

static int end(void) {
  int error = rg_group_free(&grown);
  if (comm != MPI_COMM_NULL)
    MPI_Comm_free(&comm);
  error = error ? error : rg_group_free(&team);
  return error ? error : start_anew();
}

/* Where the reserve has been opened. */
static int wake_and_end(void) {
  int open = team != NULL;
  MPI_Bcast(&open, 1, MPI_INT, 0, MPI_COMM_WORLD);
  int error = open && is_asleep() ? sleep_on() : RG_SUCCESS;
  return error ? error : end();
}

static int grow(void) {
  if (is_asleep())
    return for_all(sleep_on());
  int code = rg_group_grow(team, 1, &grown);
  shortage_over();
  int left = rg_reserve_leave();
  return for_all(left ? RG_ERR_INTERNAL : code);
}

static int spawn(void) {
  if (is_asleep())
    return for_all(sleep_on());
  int code = rg_intercomm_spawn(comm, "unused", NULL, 1, &inter);
  shortage_over();
  if (inter != MPI_COMM_NULL)
    MPI_Comm_free(&inter);
  int left = rg_reserve_leave();
  return for_all(left ? RG_ERR_INTERNAL : code);
}

static int was_acquired(void) {
  return rgt_size == 1 || acquired == is_asleep();
}

static int count_asleep(void) {
  int n = -1;
  if (is_asleep())
    return sleep_on();
  int code = rg_reserve_count(&n);
  shortage_over();
  if (code == RG_ERR_NOMEM)
    code = rg_reserve_count(&n) ? RG_ERR_INTERNAL : RG_ERR_NOMEM;
  MPI_Barrier(comm);
  int left = rg_reserve_leave();
  return left || n != (rgt_size > 1) ? RG_ERR_INTERNAL : code;
}

static const shortage_call calls[] = {
    {"rg_reserve_open", SHORTAGE_EACH, start_anew, open_reserve, NULL, wake_and_end},
    {"rg_group_grow", SHORTAGE_ALL, begin, grow, was_acquired, end},
    {"rg_intercomm_spawn", SHORTAGE_ALL, begin, spawn, was_acquired, end},
    {"rg_reserve_count", SHORTAGE_ONE, begin, count_asleep, NULL, end},
    {NULL, SHORTAGE_ALL, NULL, NULL, NULL, NULL}};

int main(int argc, char **argv) {
  return shortage_main(argc, argv, "memory_reserve", calls);
}
