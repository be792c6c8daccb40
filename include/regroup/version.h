/* Regroup: process groups that form, merge and survive while the program runs.
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#ifndef REGROUP_VERSION_H
#define REGROUP_VERSION_H

/* The version is written only here; the build reads it from this file. */
#define RG_VERSION_MAJOR 0
#define RG_VERSION_MINOR 1
#define RG_VERSION_PATCH 0
#define RG_VERSION "0.1.0"

#endif
