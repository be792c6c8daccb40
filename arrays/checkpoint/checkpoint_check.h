/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Checking the arguments of saving and loading a checkpoint. */
#ifndef RGI_CHECKPOINT_CHECK_H
#define RGI_CHECKPOINT_CHECK_H

#include <regroup/array.h>

/* What is saved or loaded. */
typedef struct {
  int64_t n;
  const rg_array *arrays;
  size_t bytes;
  const void *state; /* read only by saving */
} rgi_checkpoint_content;

/* RG_ERR_ARG; RG_ERR_ARRAY; RG_ERR_GROUP: an array is not on g's members in their order. */
int rgi_checkpoint_check(const char *call, rg_group g, const rgi_checkpoint_content *content);

#endif
