/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * links: regroup-mpi
 * sources: tests/memory/shortage.c tests/memory/program_guard.c
 * wrap: malloc calloc realloc strdup strndup asprintf free
 * wrap: rgi_arena_alloc rgi_arena_alloc_for rgi_arena_alloc_brief rgi_arena_alloc_placed
 * wrap: rgi_arena_heap_commit dlsym rg_reserve_park
 * MPI_Comm_spawn while a process lacks memory: memory_spawn RANK LASTING FIRST, in a job whose last
 * process is in reserve. At the n-th attempt, n = FIRST, FIRST + 1, ..., this rank, or with RANK -1
 * the process in reserve from its wait on, lacks memory for its n-th allocation, and if LASTING for
 * all later ones. All callers have an error, and the process is in reserve again; or it is spawned.
 * The end prints "next N", or "end N" where there were fewer allocations. */
#include <dlfcn.h>
#include <mpi.h>
#include <regroup/reserve.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/memory/shortage.h"

enum { MOST = 2000 };

static MPI_Comm
    world; /* without the reserve: libregroup-world.so, preloaded, serves other objects */
static int rank, size, wrong;
static int victim, lasting, next; /* victim -1: the process in reserve */

static void check(int good, const char *what) {
  if (!good)
    fprintf(stderr, "rank %d, attempt %d: %s\n", rank, next, what);
  wrong |= !good;
}

int __real_rg_reserve_park(rg_acquisition *drawn);
int __wrap_rg_reserve_park(rg_acquisition *drawn);
int __wrap_rg_reserve_park(rg_acquisition *drawn) {
  if (victim < 0)
    shortage_begin(next++, lasting);
  return __real_rg_reserve_park(drawn);
}

/* The caller that lacks memory is the root or not, as it comes. */
static int spawn(char *program, int root, MPI_Comm *inter) {
  char word[] = "spawned", *words[] = {word, NULL}, **all[] = {words};
  const int one = 1;
  const MPI_Info info = MPI_INFO_NULL;
  int code = -1, class = -1,
      error = lasting ? MPI_Comm_spawn_multiple(1, &program, all, &one, &info, root, world, inter,
                                                &code)
                      : MPI_Comm_spawn(program, words, 1, info, root, world, inter, &code);
  MPI_Error_class(error, &class);
  check(class == MPI_SUCCESS || (class == MPI_ERR_SPAWN && *inter == MPI_COMM_NULL),
        "the class of the error");
  return class;
}

/* The process that the last attempt has given back. */
static void await_reserve(void) {
  int there = 0;
  for (int i = 0; rank == 0 && !there; i++) {
    check(rg_reserve_count(&there) == RG_SUCCESS, "rg_reserve_count");
    usleep(200);
  }
  MPI_Barrier(world);
}

/* Whether the spawned process has lacked memory. */
static int use(MPI_Comm inter) {
  int failed = -1;
  MPI_Bcast(&failed, 1, MPI_INT, 0, inter);
  MPI_Comm_free(&inter);
  return failed;
}

static void call(char *program) {
  int class = -1, failed = 0;
  for (; class != MPI_SUCCESS && !wrong && next < MOST; next++) {
    MPI_Comm inter = MPI_COMM_NULL;
    await_reserve();
    shortage_begin(victim == rank ? next : 0, lasting);
    class = spawn(program, next % size, &inter);
    int all[] = {class, -class, shortage_over()};
    MPI_Allreduce(MPI_IN_PLACE, all, 3, MPI_INT, MPI_MAX, world);
    check(all[0] == -all[1], "the class is the same on all");
    check(class == MPI_SUCCESS || all[2] || victim < 0, "an error without a reason");
    failed = class == MPI_SUCCESS ? use(inter) || all[2] : 0;
  }
  check(next < MOST, "too many allocations");
  if (rank == 0)
    printf("%s %d\n", failed ? "next" : "end", next);
}

int main(int argc, char **argv) {
  MPI_Comm parent;
  if (argc < 4)
    return 2;
  victim = atoi(argv[1]);
  lasting = atoi(argv[2]);
  next = atoi(argv[3]);
  MPI_Init(&argc, &argv);
  int failed = shortage_over();
  const MPI_Comm *served = dlsym(RTLD_DEFAULT, "rgi_world_comm");
  if (!served)
    return 2;
  world = *served;
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) {
    call(argv[0]);
  } else {
    check(argc == 2 && strcmp(argv[1], "spawned") == 0, "the arguments");
    MPI_Bcast(&failed, 1, MPI_INT, MPI_ROOT, parent);
    MPI_Comm_free(&parent);
  }
  MPI_Finalize();
  return wrong;
}
