/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "mpi/coll_check.h"

#include "runtime/runtime.h"

/* A broadcast and a reduction of one process touch no memory. */
int rgi_coll_check_ask_type(MPI_Datatype type) {
  MPI_Comm self = rgi_runtime_self();
  int none;
  return self != MPI_COMM_NULL && PMPI_Bcast(&none, 1, type, 0, self) != MPI_SUCCESS;
}

int rgi_coll_check_ask_op(MPI_Datatype type, MPI_Op op) {
  MPI_Comm self = rgi_runtime_self();
  int none[2];
  return self != MPI_COMM_NULL &&
         PMPI_Allreduce(&none[0], &none[1], 0, type, op, self) != MPI_SUCCESS;
}

/* A library of MPI may be built without checks. */
int rgi_coll_check_ask_alias(void) {
  MPI_Comm self = rgi_runtime_self();
  int one = 1;
  return self != MPI_COMM_NULL &&
         PMPI_Allreduce(&one, &one, 1, MPI_INT, MPI_SUM, self) != MPI_SUCCESS;
}

static int is_there(const rgi_coll_check_side *side) {
  return side->memory != MPI_IN_PLACE && side->count >= 0;
}

int rgi_coll_check_sides_slowly(const rgi_coll_check_side *send, const rgi_coll_check_side *recv) {
  int size = (int)rgi_datatype_basic_size(send->type), sends = is_there(send),
      gets = is_there(recv);
  if ((sends && rgi_coll_check_type(send->type)) || (gets && rgi_coll_check_type(recv->type)))
    return 1;
  if (!sends || !gets || send->type != recv->type || send->count == 0 || recv->count == 0 ||
      !send->memory || !recv->memory)
    return 0;
  if (!size)
    PMPI_Type_size(send->type, &size);
  return rgi_coll_check_begin(send, size) == rgi_coll_check_begin(recv, size) &&
         rgi_coll_check_ask_alias();
}
