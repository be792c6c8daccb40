/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Checking what the caller of rg_array_create gives. */
#ifndef RGI_SPEC_H
#define RGI_SPEC_H

#include <regroup/array.h>

/* Everything about a spec but its size in bytes; RG_ERR_ARG with a text that says
 * what of it is wrong. */
int rgi_spec_check(const rg_array_spec *spec, int members);

#endif
