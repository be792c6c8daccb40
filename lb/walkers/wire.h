/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages between the processes of a balancer: whole numbers of 64 bits. */
#ifndef RGI_WALKERS_WIRE_H
#define RGI_WALKERS_WIRE_H

#include <regroup/balance.h>
#include <regroup/request.h>

/* Tags: requests to join and their answers; between nodes; copies of records and their receipt. */
enum { RGI_WIRE_REQUEST = 1, RGI_WIRE_ANSWER, RGI_WIRE_INTERNODE, RGI_WIRE_COPY, RGI_WIRE_COPIED };

int rgi_wire_send(rg_balancer b, int to, int tag, int count, const int64_t words[]);
/* Takes a message if there is one: *words is freed by the caller, NULL if none. */
int rgi_wire_take(rg_balancer b, int tag, int *from, int *count, int64_t **words);
int rgi_wire_reap(rg_balancer b);  /* frees messages that have been sent */
int rgi_wire_flush(rg_balancer b); /* waits until all have been sent */

#endif
