/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Contexts: numbers of 64 bits that keep the messages and slots of groups apart.
 * Every member computes its group's context by itself, without a message: from the
 * members, the tag, the kind of creation, and how many groups with the same three
 * it has created before; or from a number that the members have agreed on. */
#ifndef RGI_CONTEXT_H
#define RGI_CONTEXT_H

#include <stdint.h>

/* The kinds of creation. */
typedef enum {
  RGI_CONTEXT_CREATED,
  RGI_CONTEXT_UNION,
  RGI_CONTEXT_INTERSECTION,
  RGI_CONTEXT_DIFFERENCE,
  RGI_CONTEXT_WORLD
} rgi_context_kind;

/* The context of the next group. members: a hash of their set, so that members
 * that were given lists of different orders meet, and find that. Kind RGI_CONTEXT_WORLD always has
 * the same context. Any thread. RG_ERR_NOMEM. Takes 32 to 64 bytes for each different (members,
 * tag, kind) until the library is started again. */
int rgi_context_next(uint64_t members, rgi_context_kind kind, int tag, uint64_t *context);

/* The context of the group with a number that no other group of these members has, nor had. */
uint64_t rgi_context_numbered(uint64_t members, uint64_t number);

#endif
