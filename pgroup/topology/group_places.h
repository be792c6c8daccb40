/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What is kept on a group: the places of its members on this node, and which hardware level it
 * is. */
#ifndef RGI_GROUP_PLACES_H
#define RGI_GROUP_PLACES_H

#include "formation/group.h"
#include "machine/places.h"

/* Immutable once it is attached, and shared by the copies of a group. */
typedef struct {
  atomic_int holders;
  rgi_places *places;
  int siblings, index; /* siblings is 0 if the group is no level */
  const char *type;
} rgi_group_places;

/* Those of g, known already or exchanged by all members. They belong to g. All members return the
 * error of one. */
int rgi_group_places_get(const char *call, rg_group g, const rgi_group_places **places);

/* Attaches to g places and what level it is; takes over the caller's hold of `places`, also on
 * failure (and when they are NULL for want of memory). */
int rgi_group_places_set(const char *call, rg_group g, rgi_places *places,
                         const rgi_group_places *level);

#endif
