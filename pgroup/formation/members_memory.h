/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The memory nodes of members, for what they share. */
#ifndef RGI_MEMBERS_MEMORY_H
#define RGI_MEMBERS_MEMORY_H

#include <stdint.h>

#include "formation/members.h"

/* Those of the members on this node, in their order; the caller frees the list. NULL: there is one
 * memory node for all, or no memory for the list; then nothing is bound. */
int16_t *rgi_members_memory_nodes(const rgi_members *members);

#endif
