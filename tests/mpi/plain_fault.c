/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A program of MPI's fault-tolerance extension, for test_fault.py: plain_fault PLAN ROUNDS. The
 * ranks add up one bit each, on the communicator and on copies and parts of it. PLAN is
 * "rank:round,rank:round": the rank kills itself when it comes to that round. After an error the
 * survivors agree, shrink, and do the round again. Each sum must be that of the communicator's
 * members, and each error one of the extension's. At the end: "RESULT members deaths wrong". */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plain.h"

#ifdef MPICH

static int my_rank, wrong, deaths;
static const char *plan;

static void fail(const char *what, int code) {
  printf("WRONG rank %d: %s (%d)\n", my_rank, what, code);
  wrong++;
}

static int noted(int code, const char *call) {
  int class = 0;
  MPI_Error_class(code, &class);
  if (code && code != MPIX_ERR_PROC_FAILED && code != MPIX_ERR_REVOKED)
    fail(call, code);
  if (class != code)
    fail("the class", class);
  return code;
}

static void die_if_due(int at) {
  for (const char *p = plan; p && *p; p = strchr(p, ','), p += p != NULL) {
    int rank, when;
    if (sscanf(p, "%d:%d", &rank, &when) == 2 && rank == my_rank && when == at)
      raise(SIGKILL);
  }
}

/* The ranks of MPI_COMM_WORLD that are in a communicator, as bits. */
static int expected(MPI_Comm comm) {
  MPI_Group mine, world;
  int n, bits = 0;
  MPI_Comm_group(comm, &mine);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_size(mine, &n);
  for (int i = 0; i < n; i++) {
    int rank;
    MPI_Group_translate_ranks(mine, 1, &i, world, &rank);
    bits |= 1 << rank;
  }
  MPI_Group_free(&mine);
  MPI_Group_free(&world);
  return bits;
}

static int add_up(MPI_Comm comm) {
  int mine = 1 << my_rank, sum = 0;
  int code = noted(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm), "MPI_Allreduce");
  if (!code && sum != expected(comm))
    fail("a sum", sum);
  return code;
}

static int use_and_free(int code, MPI_Comm *made) {
  if (code || *made == MPI_COMM_NULL)
    return code;
  code = add_up(*made);
  MPI_Comm_free(made);
  return code;
}

static int step(MPI_Comm comm, int at) {
  MPI_Comm made = MPI_COMM_NULL;
  int rank, n, one = 1, flag = 0, dims[1];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  switch (at % 5) {
  case 0:
    return use_and_free(noted(MPI_Comm_dup(comm, &made), "MPI_Comm_dup"), &made);
  case 1:
    return use_and_free(noted(MPI_Comm_split(comm, rank % 2, -rank, &made), "MPI_Comm_split"),
                        &made);
  case 2:
    dims[0] = n;
    return use_and_free(noted(MPI_Cart_create(comm, 1, dims, &one, 0, &made), "MPI_Cart_create"),
                        &made);
  case 3:
    return noted(MPI_Bcast(&flag, 1, MPI_INT, at % n, comm), "MPI_Bcast");
  default:
    return add_up(comm);
  }
}

/* All know then how many have failed. */
static MPI_Comm shrunk(MPI_Comm comm) {
  MPI_Comm next = MPI_COMM_NULL;
  MPI_Group failed;
  int before, after, n;
  noted(MPIX_Comm_shrink(comm, &next), "MPIX_Comm_shrink");
  MPIX_Comm_failure_ack(comm);
  MPIX_Comm_failure_get_acked(comm, &failed);
  MPI_Group_size(failed, &n);
  MPI_Group_free(&failed);
  MPI_Comm_size(comm, &before);
  MPI_Comm_size(next, &after);
  if (n < before - after)
    fail("failures acknowledged", n);
  deaths += before - after;
  if (comm != MPI_COMM_WORLD)
    MPI_Comm_free(&comm);
  return next;
}

int main(int argc, char **argv) {
  MPI_Comm comm = MPI_COMM_WORLD;
  char text[MPI_MAX_ERROR_STRING];
  int rank, size, length, ended = 0, rounds = argc > 2 ? atoi(argv[2]) : 50;
  plan = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(comm, &my_rank);
  if (argc < 4) /* with another argument errors are fatal */
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Error_string(MPIX_ERR_PROC_FAILED, text, &length);
  if (!strstr(text, "MPIX_ERR_PROC_FAILED") || length != (int)strlen(text))
    fail(text, length);
  for (int at = 0; at < rounds;) {
    die_if_due(at);
    int code = step(comm, at), well = code == MPI_SUCCESS;
    /* At least one member may not have noticed it yet: it is in the call. */
    if (code)
      MPIX_Comm_revoke(comm);
    noted(MPIX_Comm_agree(comm, &well), "MPIX_Comm_agree");
    if (well)
      at++;
    else
      comm = shrunk(comm);
  }
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rank == 0)
    printf("RESULT %d %d %d\n", size, deaths, wrong);
  MPI_Finalize();
  MPI_Finalized(&ended);
  return wrong || !ended;
}

#else
int main(void) {
  return 0;
}
#endif
