/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The lowest resource that contains some processes. */
#ifndef RGI_LOWEST_H
#define RGI_LOWEST_H

#include "machine/places.h"

/* The type of the lowest resource that contains these ranks of the communicator or group of places.
 * "Cluster": they are on several nodes; "Unknown": the caller is not among them. RG_ERR_ARG (n),
 * RG_ERR_RANK. */
int rgi_lowest_type(const char *call, const rgi_places *places, int n, const int ranks[],
                    const char **type);

#endif
