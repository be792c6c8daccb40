/* Regroup: process groups that form, merge and survive while the program runs.
 * SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#ifndef REGROUP_VERSION_H
#define REGROUP_VERSION_H

/* The version is written only here; the build reads it from this file. */
#define RG_VERSION_MAJOR 0
#define RG_VERSION_MINOR 3
#define RG_VERSION_PATCH 0
#define RG_VERSION "0.3.0"

/* The version as one number, in which a later version is greater: 300 is 0.3.0. */
#define RG_VERSION_NUMBER (RG_VERSION_MAJOR * 10000 + RG_VERSION_MINOR * 100 + RG_VERSION_PATCH)

/* Whether this header is of the given version or a later one:
 * #if RG_VERSION_AT_LEAST(0, 3, 1) */
#define RG_VERSION_AT_LEAST(major, minor, patch)                                                   \
  (RG_VERSION_NUMBER >= (major)*10000 + (minor)*100 + (patch))

#endif
