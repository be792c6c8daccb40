/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How to get more processes and to connect independent ones: two backends, MPI's own
 * functions (spawn_native.c) and the reserve (spawn_reserve.c). */
#ifndef RGI_SPAWN_H
#define RGI_SPAWN_H

#include <mpi.h>

/* Processes that one call may ask for. MPI has no limit of its own: it would try. */
enum { RGI_SPAWN_MOST = 1000000 };

/* What to start; it counts on rank 0. argv may be NULL. */
typedef struct {
  const char *command;
  char **argv;
  int n;
} rgi_spawn_order;

/* Every function returns the same error on every process of comm. The communicators that they
 * make return their errors. */
typedef struct {
  /* Collective over comm. */
  int (*spawn)(const char *call, MPI_Comm comm, const rgi_spawn_order *order, MPI_Comm *inter);
  /* A port that others can connect to; one process. */
  int (*open_port)(const char *call, char port[MPI_MAX_PORT_NAME]);
  void (*close_port)(char port[MPI_MAX_PORT_NAME]);
  /* Collective over comm; the port counts on its rank 0. */
  int (*accept)(const char *call, char port[MPI_MAX_PORT_NAME], MPI_Comm comm, MPI_Comm *inter);
  int (*connect)(const char *call, char port[MPI_MAX_PORT_NAME], MPI_Comm comm, MPI_Comm *inter);
} rgi_spawn_backend;

extern const rgi_spawn_backend rgi_spawn_native, rgi_spawn_reserve;

/* The one to use in this job: the reserve if one is open. */
const rgi_spawn_backend *rgi_spawn_backend_now(void);

#endif
