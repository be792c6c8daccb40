/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Memory of arrays, and when it goes: for creation and recovery. */
#ifndef RGI_ARRAY_CREATE_H
#define RGI_ARRAY_CREATE_H

#include "object/array.h"

/* Memory for the elements (array_memory.c): group, type, element and d are set. error:
 * the caller's own, which is told to the others. */
int rgi_array_take(const char *call, rg_array a, int error);
void rgi_array_give(rg_array a);

/* An array that spans nodes goes when all members have freed it (array_deferred.c).
 * Any thread. */
int rgi_array_defer_free(rg_array a);

/* One that spans nodes, when all that live have agreed that nobody needs it any more. */
void rgi_array_drop(rg_array *a);
void rgi_array_free_deferred(void);

/* Frees the handle and what hangs on it but the memory of the elements. */
void rgi_array_forget(rg_array a);

#endif
