/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Many small pieces of an access, collected by their owners into few messages. */
#ifndef RGI_AGGREGATE_H
#define RGI_AGGREGATE_H

#include "onesided/access_piece.h"

/* Pieces of an array that spans nodes, collected by owner. Small ones are moved when there are
 * enough of them for a message, or at the end; large ones at once. */
typedef struct rgi_aggregate rgi_aggregate;
int rgi_aggregate_open(const rgi_access *access, rgi_aggregate **aggregate);
int rgi_aggregate_add(rgi_aggregate *aggregate, int rank, rgi_transfer *transfer);
/* Moves what is left, unless error, which the caller has met before, says not to. */
int rgi_aggregate_close(rgi_aggregate *aggregate, int error);

#endif
