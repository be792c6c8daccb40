/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Restoring an array that spans nodes after members have died. */
#ifndef RGI_REBUILD_H
#define RGI_REBUILD_H

#include <regroup/array.h>

/* Every member of `to`: puts a's elements into b, which is on `to`. a is NULL on members that do
 * not have it. Members of a that are not in `to` count as dead, and the memory of a node as lost if
 * no member of a on it is in `to`. b is complete when all members have returned without an error.
 * RG_ERR_ARRAY, on all: elements are lost, or a mirrored array has never been synchronised. */
int rgi_rebuild_array(rg_array a, rg_group to, rg_array b);

#endif
