/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The recursive algorithm: Dinan, Krishnamoorthy, Balaji, Hammond, Krishnan,
 * Tipparaju, Vishnu: Noncollective Communicator Creation in MPI, EuroMPI 2011.
 *
 * Every member starts with a communicator of its own. In rounds, groups of
 * merge_size members pair up: an even group with the odd one to its right. Their
 * first members build an inter-communicator over the parent, and merging it
 * gives a communicator of twice the size, even side low, odd side high. */
#include "base/error.h"
#include "formation/comm.h"
#include "progress/mpi_error.h"

/* Merges the communicator of the caller's group with that of the group whose first member is
 * `other`. The merged one replaces *comm. */
static int merge_with(const rgi_comm_creation *creation, int other, int high, MPI_Comm *comm) {
  MPI_Comm inter, merged;
  RGI_TRY_MPI(MPI_Intercomm_create(*comm, 0, creation->comm, creation->ranks[other], creation->tag,
                                   &inter));
  int error = rgi_mpi_error(MPI_Intercomm_merge(inter, high, &merged), "MPI_Intercomm_merge");
  MPI_Comm_free(&inter);
  if (error)
    return error;
  MPI_Comm_free(comm);
  *comm = merged;
  return RG_SUCCESS;
}

int rgi_comm_create_recursive(const rgi_comm_creation *creation, MPI_Comm *newcomm) {
  MPI_Comm comm = MPI_COMM_NULL;
  int error = rgi_comm_self(&comm);
  for (long long merge_size = 1; merge_size < creation->n && !error; merge_size *= 2) {
    int size = (int)merge_size;
    int gid = creation->me / size; /* the caller's group of merge_size members */
    if (gid % 2 == 0) {
      if ((gid + 1) * merge_size < creation->n)
        error = merge_with(creation, (gid + 1) * size, 0 /* low */, &comm);
    } else {
      error = merge_with(creation, (gid - 1) * size, 1 /* high */, &comm);
    }
  }
  if (!error)
    *newcomm = comm;
  else if (comm != MPI_COMM_NULL)
    MPI_Comm_free(&comm);
  return error;
}
