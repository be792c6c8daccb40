/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The memory of arrays, and when it is given back: for creation and recovery. */
#ifndef RGI_ARRAY_CREATE_H
#define RGI_ARRAY_CREATE_H

#include "object/array.h"

/* Collective: takes memory for the elements (array_memory.c); group, type, element and d are set.
 * error: the caller's own, which the other members return, too. */
int rgi_array_take(const char *call, rg_array a, int error);
void rgi_array_give(rg_array a);

/* Frees an array that spans nodes as soon as all members have freed it (array_deferred.c).
 * Any thread. */
int rgi_array_defer_free(rg_array a);

/* Frees an array that spans nodes at once. All living members have agreed that none needs it any
 * more. */
void rgi_array_drop(rg_array *a);

/* Frees those deferred arrays that all members have freed by now. */
void rgi_array_free_deferred(void);

/* In what two specs differ whose hashes (array.h) do. */
const char *rgi_array_difference(uint64_t mine, uint64_t theirs);

/* Frees the handle and what belongs to it, but not the memory of the elements. */
void rgi_array_forget(rg_array a);

#endif
