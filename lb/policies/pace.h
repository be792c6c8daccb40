/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Whether a pace that the application gives is one. */
#ifndef RGI_PACE_H
#define RGI_PACE_H

#include <regroup/policy.h>

/* Its count, its sizes and its seconds are as policy.h says. */
int rgi_pace_is_valid(const rg_pace *pace);

#endif
