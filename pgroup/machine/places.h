/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The places of a communicator's processes on one node, and the levels of a hierarchy that
 * follow from them. Nothing here communicates: the same functions serve running
 * and pretended jobs.
 *
 * Resources form a tree, and a place is a path from its root. So two processes
 * share the resource at position i of a path exactly if their paths are equal as
 * far as i. */
#ifndef RGI_PLACES_H
#define RGI_PLACES_H

#include <stdatomic.h>

#include "machine/machine.h"

/* Immutable once filled, and shared by the communicators that it holds for. */
typedef struct {
  atomic_int holders;
  int size; /* of the communicator, over all its nodes */
  int me;   /* the caller's row, or 0 */
  int rows; /* its processes on this node, in its order */
  rgi_machine_place at[];
} rgi_places;

/* Room for `rows` places, with one holder; NULL if there is no memory. */
rgi_places *rgi_places_new(int size, int rows);
rgi_places *rgi_places_retain(rgi_places *places);
void rgi_places_release(rgi_places *places);

/* Returns whether all processes see the same machine. If not, ends all paths at the whole
 * machine. */
int rgi_places_reconcile(rgi_places *places);

/* How many resources two paths have in common from the start, at most `most`. */
int rgi_places_common_length(const rgi_machine_place *a, const rgi_machine_place *b, int most);

/* The level below the communicator for one of its processes. */
typedef struct {
  int depth; /* in the path: of the outermost resource */
  int last;  /* of the innermost resource that the same processes share */
  int count; /* processes */
  int first; /* the lowest rank among them, in the communicator */
} rgi_places_level;

/* Which level: the next smaller one whose resource is of a class of the filter; or, where the
 * filter is 0, that of the resource of a type, whether or not fewer processes share it. */
typedef struct {
  int filter;
  hwloc_obj_type_t type;
} rgi_places_choice;

/* Returns 0 if there is no such level. */
int rgi_places_level_below(const rgi_places *places, int row, rgi_places_choice choice,
                           rgi_places_level *level);

/* Whether the process in row `other` belongs to this level of row's. */
int rgi_places_level_has(const rgi_places *places, int row, const rgi_places_level *level,
                         int other);

/* The level's resources that pass the filter, outermost first, separated by commas (without a
 * filter all). Returns the outermost's type. */
#define RGI_PLACES_TYPES 320
const char *rgi_places_level_types(const rgi_places *places, int row, rgi_places_choice choice,
                                   const rgi_places_level *level, char types[RGI_PLACES_TYPES]);

/* The places of a level as a communicator of its own, ordered by (key, rank);
 * keys go by rank in the communicator of places, NULL: all equal. NULL if there is no
 * memory. */
rgi_places *rgi_places_below(const rgi_places *places, int row, const rgi_places_level *level,
                             const int keys[]);

#endif
