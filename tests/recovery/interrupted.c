/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_creation.py starts, with RG_SURVIVE=1: interrupted CALL MICROSECONDS. All ranks repeat
 * a blocking call of MPI between rgi_mpich_interrupt_begin and _end, and the last one is killed
 * after so long. CALL: ring (MPI_Sendrecv of 200 kB), allreduce (of 200 kB), ssend (to the last
 * rank). Each of the others must leave its call with RG_ERR_PROC_FAILED; they shrink, make a
 * communicator, and use it. Rank 0 prints "INTERRUPTED members". */
#include "formation/failure_scope.h"
#include "formation/group.h"
#include "mpich/mpich.h"
#include "ranks.h"

enum { BYTES = 200000, AFTERWARDS = 30 };

static char out[BYTES], in[BYTES];

static int ring(MPI_Comm comm, int me, int n) {
  return MPI_Sendrecv(out, BYTES, MPI_BYTE, (me + 1) % n, 3, in, BYTES, MPI_BYTE, (me + n - 1) % n,
                      3, comm, MPI_STATUS_IGNORE);
}

static int allreduce(MPI_Comm comm, int me, int n) {
  (void)me;
  (void)n;
  return PMPI_Allreduce(out, in, BYTES / 4, MPI_INT, MPI_BOR, comm);
}

/* Each sends to the last one, which receives from all. */
static int ssend(MPI_Comm comm, int me, int n) {
  int error = MPI_SUCCESS;
  if (me < n - 1)
    return MPI_Ssend(out, 8, MPI_BYTE, n - 1, 3, comm);
  for (int i = 0; i < n - 1 && !error; i++)
    error = MPI_Recv(in, 8, MPI_BYTE, MPI_ANY_SOURCE, 3, comm, MPI_STATUS_IGNORE);
  return error;
}

static int (*find_call(const char *name))(MPI_Comm, int, int) {
  return !strcmp(name, "ring") ? ring : !strcmp(name, "allreduce") ? allreduce : ssend;
}

static void repeat(rg_group g, MPI_Comm comm, int (*call)(MPI_Comm, int, int)) {
  int error = RG_SUCCESS;
  while (!error) {
    rgi_failure_scope_set(&rgi_failure_scope_now, g->members, g->context, g->creation_ids);
    rgi_mpich_interrupt_begin(RGI_MPICH_INTERRUPT_ANY);
    int code = call(comm, my_rank, world_size);
    error = rgi_mpich_interrupt_end(code ? RG_ERR_MPI : RG_SUCCESS, "test");
    rgi_failure_scope_now = (rgi_failure_scope){0};
  }
  must(error == RG_ERR_PROC_FAILED, "the call was left");
}

int main(int argc, char **argv) {
  rg_group g = enter_world(&argc, &argv), survivors;
  MPI_Comm comm, left;
  must(argc == 3, "CALL MICROSECONDS");
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  all_here(g); /* the last one may be dead before the others return */
  if (my_rank == world_size - 1)
    kill_later(strtoull(argv[2], NULL, 10));
  repeat(g, comm, find_call(argv[1]));
  must(!rg_group_shrink(g, &survivors), "rg_group_shrink");
  must(!rg_group_comm(survivors, &left), "rg_group_comm");
  int n = size_of(survivors), me = rank_in(survivors);
  must(n == world_size - 1, "one has died");
  for (int i = 0; i < AFTERWARDS; i++)
    must(!find_call(i % 2 ? "ring" : "allreduce")(left, me, n), "a call of the survivors");
  if (me == 0)
    printf("INTERRUPTED %d\n", n);
  rg_group_free(&survivors);
  leave_world(&g);
  return 0;
}
