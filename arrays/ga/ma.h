/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What MA's allocator knows of its types of elements. A Fortran program reaches memory by an index
 * into a common block of its type: the distance from the common block in elements. */
#ifndef RGI_MA_H
#define RGI_MA_H

#include <stddef.h>

/* Bytes of an element of type MT_...; 0 for what is no type. */
size_t rgi_ma_size(long type);

/* The common block, or the array ma_cb_..., that indices of the type count from. */
char *rgi_ma_base(long type);

/* The index, from 0, of an address. True if it is a whole number of elements. */
int rgi_ma_index(long type, const void *address, long *index);

#endif
