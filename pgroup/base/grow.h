/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Arrays that grow as elements are added. */
#ifndef RGI_GROW_H
#define RGI_GROW_H

#include <stddef.h>
#include <stdint.h>

/* Makes room for one more element of `each` bytes in *(void **)array, which has `count` elements
 * and room for *room. text: of the error, RG_ERR_NOMEM, after which the array is as before; %lld in
 * it is the number of elements. */
int rgi_grow(void *array, int64_t count, int64_t *room, size_t each, const char *text);

#endif
