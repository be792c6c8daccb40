/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * An array that spans nodes, from what is left of it. */
#ifndef RGI_REBUILD_H
#define RGI_REBUILD_H

#include <regroup/array.h>

/* Puts a's elements into b, which is on `to`. a's members that are not in `to` are taken
 * for dead, and so is the memory of nodes that have no member in both. Every member of
 * `to`; a is NULL on those that have it not. All of b is there when all have returned
 * without an error. RG_ERR_ARRAY, on all (elements are lost; a mirrored array has never
 * been synchronised). */
int rgi_rebuild_array(rg_array a, rg_group to, rg_array b);

#endif
