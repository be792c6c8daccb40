/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Many small pieces of an access, collected by their owners into few messages. */
#ifndef RGI_AGGREGATE_H
#define RGI_AGGREGATE_H

#include "onesided/access_piece.h"

/* Parts of an array that spans nodes, which are collected by their owners: small ones
 * are moved when there are enough of them, or at the end. */
typedef struct rgi_aggregate rgi_aggregate;
int rgi_aggregate_open(const rgi_access *m, rgi_aggregate **aggregate);
int rgi_aggregate_add(rgi_aggregate *aggregate, const rgi_access_piece *part);
/* error: what has happened so far; then nothing more is moved. */
int rgi_aggregate_close(rgi_aggregate *aggregate, int error);

#endif
