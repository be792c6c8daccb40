/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What a process knows about the inter-communicator in use, cached as an attribute
 * of MPI_COMM_SELF; and the role, cached on the inter-communicator. */
#ifndef RGI_RECORD_H
#define RGI_RECORD_H

#include <regroup/intercomm.h>

#include "intercomm/enter.h"

typedef struct {
  rg_inter_view view; /* world is MPI_COMM_NULL where the process takes no part */
  rgi_entry entry;
} rgi_record;

/* The one in use, or NULL. Any thread. */
const rgi_record *rgi_record_now(void);

/* Keeps a copy of r until rgi_record_drop, or until MPI_Finalize. */
int rgi_record_keep(const char *call, const rgi_record *r);

/* Gives up what is kept; there is something. */
int rgi_record_drop(void);

/* Frees the communicators of a view, or disconnects those that lead to others. */
void rgi_view_free(rg_inter_view *v, int disconnect);

int rgi_role_set(MPI_Comm inter, int is_initiator);
int rgi_role_is_initiator(MPI_Comm inter);

#endif
