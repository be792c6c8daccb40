/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The creation of a communicator, as the functions that take part in it pass it on. */
#ifndef RGI_COMM_CREATION_H
#define RGI_COMM_CREATION_H

#include <mpi.h>
#include <regroup/comm.h>

/* A creation. The first five are what the caller asks for; the others follow from them. */
typedef struct {
  const char *call; /* the public function, for errors */
  MPI_Comm comm;    /* the parent; later: rgi_comm_to_talk_on */
  MPI_Group group;  /* the members */
  int tag;
  rg_comm_method method;
  int n, me;        /* how many members, and which one calls */
  const int *ranks; /* the members' ranks in comm */
} rgi_comm_creation;

#endif
