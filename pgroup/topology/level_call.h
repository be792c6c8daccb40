/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A call that makes hardware levels, of communicators or of groups: what it asks for, and what its
 * processes tell each other before the first level is made. */
#ifndef RGI_LEVEL_CALL_H
#define RGI_LEVEL_CALL_H

#include "machine/places.h"

typedef struct {
  const char *call;
  rgi_places_choice choice;
  int key;    /* orders the first level */
  int most;   /* how many levels */
  int rooted; /* whether to make the roots' communicators or groups, too */
  int error;  /* in the caller's own arguments: all processes get an error then */
} rgi_level_call;

/* Describes a call, and checks its filter and max; a call that names the type of the level, which
 * it checks. */
rgi_level_call rgi_level_call_of(const char *call, int filter, int key, int max, int rooted);
rgi_level_call rgi_level_call_named(const char *call, const char *type, int key);

/* The caller has no such level: says why. That processes are not bound, rank 0 says. */
void rgi_level_call_tell_none(const rgi_level_call *split, int rank);

/* What a process contributes to making a level. Sent between processes as bytes. */
typedef struct {
  int error;
  rgi_places_choice choice;
  int shape; /* of the call: levels and roots */
  int key;
  int first; /* the lowest rank of its level, or -1 */
} rgi_level_call_part;

/* The caller's part in the first level. */
rgi_level_call_part rgi_level_call_mine(const rgi_level_call *split, const rgi_places *places);

/* The parts of all places->size processes in a further level. Further levels lie within a node,
 * whose places each process knows. */
void rgi_level_call_below(const rgi_level_call *split, const rgi_places *places,
                          rgi_level_call_part all[]);

/* The error of the lowest process that has one, as base/error_report.h words it; 0: none. */
int64_t rgi_level_call_word(const rgi_level_call_part all[], int size);

/* Whether all processes have made the same call: RG_ERR_MISMATCH. */
int rgi_level_call_check(const rgi_level_call *split, const rgi_level_call_part all[], int size);

/* How many levels are made, and the number of those that begin with a lower rank than `first`. */
int rgi_level_call_siblings(const rgi_level_call_part all[], int size, int first, int *index);

/* RG_ERR_ARG unless the filter is a sum of RG_LEVEL_.... */
int rgi_level_filter_check(const char *call, int filter);

/* A filter in words, as "memory,compute". RG_ERR_ARG. */
int rgi_level_filter_parse(const char *call, const char *words, int *filter);

#endif
