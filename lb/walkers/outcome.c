/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include <regroup/collectives.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "walkers/balancer.h"
#include "walkers/outcome.h"

static void free_outcome(const rg_outcome *o) {
  free((void *)(uintptr_t)o->text);
  free((void *)(uintptr_t)o->state);
}

void rgi_outcomes_free(rgi_outcomes *o) {
  for (int i = 0; i < o->count; i++)
    free_outcome(&o->at[i]);
  free(o->at);
  *o = (rgi_outcomes){0};
}

int rgi_outcomes_append(rgi_outcomes *list, const rg_outcome *o) {
  if (list->count == list->room) {
    int room = list->room ? 2 * list->room : 8;
    rg_outcome *more = realloc(list->at, (size_t)room * sizeof *more);
    if (!more)
      return rgi_error(RG_ERR_NOMEM, "no memory for %d outcomes", room);
    list->at = more;
    list->room = room;
  }
  rg_outcome copy = *o;
  void *state = o->state ? malloc(o->bytes ? o->bytes : 1) : NULL;
  copy.text = strdup(o->text);
  if (!copy.text || (o->state && !state)) {
    free(state);
    free((void *)(uintptr_t)copy.text);
    return rgi_error(RG_ERR_NOMEM, "no memory for the outcome of walker %lld", (long long)o->id);
  }
  if (state)
    memcpy(state, o->state, o->bytes);
  copy.state = state;
  list->at[list->count++] = copy;
  return RG_SUCCESS;
}

static int by_id(const void *a, const void *b) {
  const rg_outcome *x = a, *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

void rgi_outcomes_sort(rgi_outcomes *list) {
  if (list->count > 0)
    qsort(list->at, (size_t)list->count, sizeof *list->at, by_id);
}

int rgi_outcomes_insert(rgi_outcomes *list, const rg_outcome *o) {
  RGI_TRY(rgi_outcomes_append(list, o));
  int i = list->count - 1;
  for (; i > 0 && by_id(&list->at[i - 1], &list->at[i]) > 0; i--) {
    rg_outcome later = list->at[i - 1];
    list->at[i - 1] = list->at[i];
    list->at[i] = later;
  }
  return RG_SUCCESS;
}

int rgi_outcome_add(rg_balancer b, const rg_outcome *o) {
  return rgi_outcomes_insert(&b->outcomes, o);
}

/* --- the error of the whole --------------------------------------------------------- */

typedef struct {
  int error;
  char text[RGI_OUTCOME_TEXT];
} outcome_report;

/* The error of this rank, on every process. */
static int tell_all(rg_balancer b, int rank, int error, const char *text) {
  outcome_report said = {0};
  if (rank == b->rank) {
    said.error = error;
    snprintf(said.text, RGI_OUTCOME_TEXT, "%s", text);
  }
  RGI_TRY(rg_bcast(b->all, &said, sizeof said, MPI_BYTE, rank));
  return rgi_error(said.error, "%s", said.text);
}

/* Whether the policy was wrong somewhere. */
static int policy_report(rg_balancer b) {
  int rank = b->policy_error ? b->rank : b->size;
  RGI_TRY(rg_allreduce(b->all, MPI_IN_PLACE, &rank, 1, MPI_INT, MPI_MIN));
  return rank < b->size ? tell_all(b, rank, b->policy_error, b->policy_text) : RG_SUCCESS;
}

int rgi_outcome_report(rg_balancer b) {
  int64_t least[2] = {INT64_MAX, INT64_MAX}; /* id, and the rank that has it */
  const rg_outcome *mine = NULL;
  for (int i = 0; i < b->outcomes.count && !mine; i++)
    if (b->outcomes.at[i].error)
      mine = &b->outcomes.at[i];
  least[0] = mine ? mine->id : INT64_MAX;
  int64_t id = least[0];
  RGI_TRY(rg_allreduce(b->all, MPI_IN_PLACE, &id, 1, MPI_INT64_T, MPI_MIN));
  least[1] = mine && mine->id == id ? b->rank : INT64_MAX;
  RGI_TRY(rg_allreduce(b->all, MPI_IN_PLACE, &least[1], 1, MPI_INT64_T, MPI_MIN));
  if (least[1] == INT64_MAX)
    return policy_report(b);
  return tell_all(b, (int)least[1], mine ? mine->error : 0, mine ? mine->text : "");
}
