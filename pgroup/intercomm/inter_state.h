/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What a process knows about the inter-communicator in use, cached as an attribute
 * of MPI_COMM_SELF; and the role, cached on the inter-communicator. */
#ifndef RGI_INTER_STATE_H
#define RGI_INTER_STATE_H

#include <regroup/intercomm.h>

#include "intercomm/startup.h"

typedef struct {
  rg_inter_view view; /* world is MPI_COMM_NULL where the process takes no part */
  rgi_startup startup;
} rgi_inter_state;

/* The one in use, or NULL. Any thread. */
const rgi_inter_state *rgi_inter_state_now(void);

/* Keeps a copy of r until rgi_inter_state_drop, or until MPI_Finalize. */
int rgi_inter_state_keep(const char *call, const rgi_inter_state *state);

/* Frees what is kept, which there must be. */
int rgi_inter_state_drop(void);

/* Frees the communicators of a view. disconnect: disconnects the inter-communicator instead. */
void rgi_inter_state_free_view(rg_inter_view *view, int disconnect);

/* The role of the caller's side in an inter-communicator. */
int rgi_inter_state_set_role(MPI_Comm inter, int is_initiator);
int rgi_inter_state_is_initiator(MPI_Comm inter);

#endif
