/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Public structs that may grow: the first member, size, is the size of the struct as the program
 * knows it (regroup/error.h has the rule). The library works with a struct of its own. `what` names
 * the caller's struct in errors: "rg_balance_create: options". */
#ifndef RGI_SIZED_H
#define RGI_SIZED_H

#include <stddef.h>

/* No struct is larger: more is memory that was not initialised. */
#define RGI_SIZED_MOST 4096

/* Copies the members that the caller knows into own, a struct of `bytes` bytes; the others are
 * zero, and own's size is `bytes`. RG_ERR_ARG: given is NULL or its size is not set.
 * RG_ERR_UNSUPPORTED: a member that the library does not know is not zero. */
int rgi_sized_take(void *own, size_t bytes, const void *given, const char *what);

/* Copies own, of `bytes` bytes, into the caller's struct, as far as that has room. RG_ERR_ARG:
 * given is NULL or its size is not set. */
int rgi_sized_give(void *given, const void *own, size_t bytes, const char *what);

/* The checks of both alone, for functions that wait before they fill in the struct. */
int rgi_sized_check(const void *given, const char *what);

#endif
