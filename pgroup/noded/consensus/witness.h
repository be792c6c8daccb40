/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The witness: a file that all nodes see (RG_WITNESS). Where half of the nodes cannot reach the
 * other half, the half that first writes itself into the file goes on (presence.h). Runs in
 * guards. */
#ifndef RGI_WITNESS_H
#define RGI_WITNESS_H

#include <stdint.h>

#define RGI_WITNESS_PENDING (-1)
#define RGI_WITNESS_FAILED (-2)

/* Which node has the vote of the witness for a decision: the first one that asked; or PENDING: not
 * known yet, the caller asks again; or FAILED: the file cannot be read and written. Does not block:
 * a thread of its own uses the file. path: kept by the caller. */
int rgi_witness_ask(const char *path, uint64_t job, uint32_t number, int node);

#endif
