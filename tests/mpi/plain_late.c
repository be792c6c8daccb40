/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A member that comes to the first collective on a communicator only when the others have waited
 * longer than RG_TIMEOUT: what these get, what the late one gets, and what each gets later.
 * Arguments: which member is late (-1: the last), and the call; or "create": MPI_Comm_create_group,
 * to which the last one does not come; or "ahead": rank 0's first broadcast on MPI_COMM_WORLD, and
 * then on a duplicate, comes before the message that the others receive before theirs. "slow": no
 * member waits in vain. Calls "fatal" and "fatal window": the handler is left as it is. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plain.h"

static int call_once(const char *call, MPI_Comm comm) {
  int in[64] = {0}, out[64], *base;
  MPI_Win window;
  if (!strcmp(call, "barrier"))
    return MPI_Barrier(comm);
  if (!strcmp(call, "bcast"))
    return MPI_Bcast(in, 1, MPI_INT, 0, comm);
  if (!strcmp(call, "gatherv")) {
    int counts[64], places[64];
    for (int i = 0; i < 64; i++)
      counts[i] = 1, places[i] = i;
    return MPI_Gatherv(in, 1, MPI_INT, out, counts, places, MPI_INT, 0, comm);
  }
  if (strstr(call, "window"))
    return MPI_Win_allocate(8, 1, MPI_INFO_NULL, comm, &base, &window);
  return MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, comm);
}

/* Waits in MPI, which has no time limit. */
static void meet(int rank, int size) {
  char go = 0;
  for (int k = 0; k < 2; k++)
    for (int i = 1; i < size; i++)
      if (rank == (k ? 0 : i))
        MPI_Send(&go, 1, MPI_CHAR, k ? i : 0, 1, MPI_COMM_WORLD);
      else if (rank == (k ? i : 0))
        MPI_Recv(&go, 1, MPI_CHAR, k ? 0 : i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The others wait in MPI for the late one, which comes when all of them have given up. */
static void take_turns(int late, int rank, int size) {
  char go = 0;
  for (int i = 0; i < size && rank == late; i++)
    if (i != late)
      MPI_Recv(&go, 1, MPI_CHAR, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank != late)
    MPI_Send(&go, 1, MPI_CHAR, late, 0, MPI_COMM_WORLD);
}

/* 0: no error; 2: the time limit. */
static void report(const char *name, int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  plain_number(name, code == MPI_SUCCESS ? 0 : strstr(text, "within RG_TIMEOUT") ? 2 : 1);
}

static void be_late(int late, const char *call, int rank, int size) {
  MPI_Comm comm, other;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  if (strncmp(call, "fatal", 5) != 0)
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int first = rank == late ? MPI_SUCCESS : call_once(call, comm);
  take_turns(late, rank, size);
  if (rank == late)
    first = call_once(call, comm);
  report("first", first);
  plain_number("later", call_once("barrier", comm) != MPI_SUCCESS);
  meet(rank, size);
  report("elsewhere", call_once(call, other));
}

/* The last one is late where there is no time limit. */
static void be_slow(int rank, int size) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (rank == size - 1)
    sleep(2);
  report("slow", call_once("allreduce", comm));
}

static void miss_creation(int rank, int size) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group all;
  int code = MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  if (rank < size - 1)
    code = MPI_Comm_create_group(MPI_COMM_WORLD, all, 3, &made);
  report("creation", code);
  MPI_Group_free(&all);
}

static void be_ahead(MPI_Comm comm, int rank, int size) {
  int word = rank == 0 ? 7 : 0, told = rank == 0 ? 8 : 0;
  if (rank == 0)
    MPI_Bcast(&word, 1, MPI_INT, 0, comm);
  for (int i = 1; i < size && rank == 0; i++)
    MPI_Send(&told, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
  if (rank > 0) {
    MPI_Recv(&told, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(&word, 1, MPI_INT, 0, comm);
  }
  plain_number("ahead", 10 * told + word);
}

static void be_ahead_twice(int rank, int size) {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  be_ahead(MPI_COMM_WORLD, rank, size);
  be_ahead(copy, rank, size);
}

int main(int argc, char **argv) {
  int rank, size, late = atoi(argv[1]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!strcmp(argv[1], "create"))
    miss_creation(rank, size);
  else if (!strcmp(argv[1], "ahead"))
    be_ahead_twice(rank, size);
  else if (!strcmp(argv[1], "slow"))
    be_slow(rank, size);
  else
    be_late(late < 0 ? size - 1 : late, argc > 2 ? argv[2] : "allreduce", rank, size);
  MPI_Finalize();
  return 0;
}
