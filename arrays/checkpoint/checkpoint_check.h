/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Checking the arguments of saving and loading a checkpoint. */
#ifndef RGI_CHECKPOINT_CHECK_H
#define RGI_CHECKPOINT_CHECK_H

#include <regroup/array.h>

/* RG_ERR_ARG; RG_ERR_ARRAY; RG_ERR_GROUP: an array is not on g's members in their order. */
int rgi_checkpoint_check(const char *call, rg_group g, int n, const rg_array arrays[],
                         const void *state, size_t bytes);

#endif
