/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI_Comm_create_group: disjoint and overlapping groups, callers that are no members, wrong
 * calls, and a receive of any message that is open on the parent meanwhile (with the argument
 * "tag" of one tag: Open MPI 4.1 creates with messages of the parent that have the caller's tag,
 * which a receive of any tag takes away). */
#include "plain.h"
#include <string.h>

static MPI_Comm parent;

/* Members first, first + stride, ...; the sum of their ranks over the new communicator. */
static void create(const char *name, int first, int stride, int tag) {
  MPI_Comm comm;
  MPI_Group all, group;
  int rank, size, sum = -1;
  MPI_Comm_rank(parent, &rank);
  MPI_Comm_size(parent, &size);
  MPI_Comm_group(parent, &all);
  int range[1][3] = {{first % size, size - 1, stride}};
  MPI_Group_range_incl(all, 1, range, &group);
  MPI_Comm_create_group(parent, group, tag, &comm);
  plain_called("comm_create_group", 0);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm != MPI_COMM_NULL ? comm : MPI_COMM_SELF);
  plain_called("allreduce", 0);
  if (comm != MPI_COMM_NULL)
    (tag == 3 ? MPI_Comm_disconnect : MPI_Comm_free)(&comm);
  plain_number(name, sum);
  plain_number("gone", comm == MPI_COMM_NULL);
  MPI_Group_free(&group);
  MPI_Group_free(&all);
}

static void wrong_calls(void) {
  MPI_Comm comm, half;
  MPI_Group all;
  int rank, size, class;
  MPI_Comm_rank(parent, &rank);
  MPI_Comm_size(parent, &size);
  MPI_Comm_split(parent, rank % 2, 0, &half);
  MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
  MPI_Comm_group(parent, &all);
#ifndef OPEN_MPI /* takes this for no error */
  MPI_Error_class(MPI_Comm_create_group(half, MPI_GROUP_NULL, 1, &comm), &class);
  plain_number("no group", class);
  plain_called("refused", 0);
#endif
  MPI_Error_class(MPI_Comm_create_group(half, all, -1, &comm), &class);
  plain_number("tag", class);
  plain_called("refused", 0);
  MPI_Group_free(&all);
  MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
  MPI_Request open;
  MPI_Errhandler handler;
  int rank, size, word = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
  int any = argc > 1 && !strcmp(argv[1], "tag") ? 5 : MPI_ANY_TAG;
  MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, any, parent, &open);
  create("all", 0, 1, 1);
  create("even", 0, 2, 1);
  create("odd", 1, 2, 2);
  create("upper", size / 2, 1, 3);
  create("one", size - 1, 1, 4);
  int found = 7;
  MPI_Send(&found, 1, MPI_INT, (rank + 1) % size, 5, parent);
  MPI_Wait(&open, MPI_STATUS_IGNORE);
  plain_number("open receive", word);
  MPI_Comm comm;
  MPI_Group all;
  MPI_Comm_group(parent, &all);
  MPI_Comm_create_group(parent, all, 9, &comm);
  plain_called("comm_create_group", 0);
  MPI_Comm_get_errhandler(comm, &handler);
  plain_number("handler inherited", handler == MPI_ERRORS_RETURN);
  MPI_Group_free(&all);
  MPI_Comm_free(&comm);
  wrong_calls();
  plain_counts();
  MPI_Comm_free(&parent);
  MPI_Finalize();
  return 0;
}
