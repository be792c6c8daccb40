/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Which functions of the library a put to another node enters before its data are given to MPI or
 * to a socket. test_put_walk.py compiles the library's rooms with -finstrument-functions, and this
 * file without. Rank 0 puts into the block of rank 1, on another pretended node, first a few
 * times uncounted. Prints for each patch a line: its name, "MPI" or "socket", how deep the calls
 * are nested, and the address of each function that was entered, as often as it was. */
#include <dlfcn.h>
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { MOST = 1000, SIDE = 64, WARM = 5 };

static _Thread_local int counting; /* of rank 0's main thread only */
static void *entered[MOST];
static int calls, depth, deepest;
static const char *end = "nothing";

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller) {
  (void)caller;
  if (!counting)
    return;
  if (calls < MOST)
    entered[calls] = function;
  calls++;
  depth++;
  deepest = depth > deepest ? depth : deepest;
}

void __cyg_profile_func_exit(void *function, void *caller) {
  (void)function;
  (void)caller;
  depth -= counting;
}

static void stop(const char *at) {
  if (counting)
    end = at;
  counting = 0;
}

/* --- in front of what may carry the data ------------------------------------------------- */

int MPI_Put(const void *from, int n, MPI_Datatype type, int target, MPI_Aint to, int count,
            MPI_Datatype target_type, MPI_Win window) {
  stop("MPI");
  return PMPI_Put(from, n, type, target, to, count, target_type, window);
}

int MPI_Rput(const void *from, int n, MPI_Datatype type, int target, MPI_Aint to, int count,
             MPI_Datatype target_type, MPI_Win window, MPI_Request *request) {
  stop("MPI");
  return PMPI_Rput(from, n, type, target, to, count, target_type, window, request);
}

int MPI_Raccumulate(const void *from, int n, MPI_Datatype type, int target, MPI_Aint to, int count,
                    MPI_Datatype target_type, MPI_Op op, MPI_Win window, MPI_Request *request) {
  stop("MPI");
  return PMPI_Raccumulate(from, n, type, target, to, count, target_type, op, window, request);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  static ssize_t (*real)(int, const struct msghdr *, int);
  stop("socket");
  if (!real)
    *(void **)&real = dlsym(RTLD_NEXT, "sendmsg");
  return real(fd, message, flags);
}

/* --- the puts ---------------------------------------------------------------------------- */

static void must(int error) {
  if (!error)
    return;
  fprintf(stderr, "%s\n", rg_error_detail());
  exit(1);
}

static void print_walk(const char *name) {
  printf("%s %s %d", name, end, deepest);
  for (int i = 0; i < calls && i < MOST; i++)
    printf(" %p", entered[i]);
  printf("\n");
}

static void count_put(rg_array a, const char *name, const int64_t lo[], const int64_t hi[],
                      const int64_t ld[]) {
  static double values[SIDE * SIDE];
  for (int i = 0; i <= WARM; i++) {
    calls = depth = deepest = 0;
    counting = i == WARM;
    must(rg_array_put(a, lo, hi, values, ld));
    counting = 0;
    must(rg_array_fence(a));
  }
  print_walk(name);
}

static void count_puts(rg_group world) {
  const int64_t width = SIDE, length = 2 * SIDE, shape[] = {2 * SIDE, SIDE};
  rg_array line, square;
  must(rg_array_create_simple(world, RG_TYPE_DOUBLE, 1, &length, &line));
  must(rg_array_create_simple(world, RG_TYPE_DOUBLE, 2, shape, &square));
  int rank = -1;
  must(rg_group_rank(world, &rank));
  if (rank == 0) {
    count_put(line, "line", (int64_t[]){SIDE + 3}, (int64_t[]){SIDE + 40}, NULL);
    count_put(square, "rows", (int64_t[]){SIDE + 3, 0}, (int64_t[]){SIDE + 40, SIDE}, NULL);
    count_put(square, "patch", (int64_t[]){SIDE + 3, 5}, (int64_t[]){SIDE + 40, 30}, NULL);
    count_put(square, "ld", (int64_t[]){SIDE + 3, 5}, (int64_t[]){SIDE + 40, 30}, &width);
  }
  must(rg_barrier(world));
  must(rg_array_free(&line));
  must(rg_array_free(&square));
}

int main(int argc, char **argv) {
  rg_group world;
  MPI_Init(&argc, &argv);
  must(rg_init(MPI_COMM_WORLD, NULL));
  must(rg_group_world(&world));
  count_puts(world);
  must(rg_group_free(&world));
  must(rg_finalize());
  MPI_Finalize();
  return 0;
}
