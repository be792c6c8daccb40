/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Each process has the outcomes of the walkers that ended in a group it led. The error of
 * rg_balance_end is that of the failed walker with the smallest id, whichever process has it: two
 * reductions find id and rank, then that rank broadcasts error and text. If no walker has failed,
 * an error of the policy counts. */
#include <regroup/collectives.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "walkers/balancer_state.h"
#include "walkers/outcome.h"
#include "walkers/outcome_list.h"

int rgi_outcome_add(rg_balancer b, const rg_balance_outcome *o) {
  return rgi_outcome_list_insert(&b->outcomes, o);
}

/* --- the error of rg_balance_end --------------------------------------------------------- */

typedef struct {
  int error;
  char text[RGI_OUTCOME_TEXT];
} outcome_report;

/* Returns the error that `rank` has, on every process. */
static int tell_all(rg_balancer b, int rank, int error, const char *text) {
  outcome_report said = {0};
  if (rank == b->rank) {
    said.error = error;
    snprintf(said.text, RGI_OUTCOME_TEXT, "%s", text);
  }
  RGI_TRY(rg_bcast(b->all, &said, sizeof said, MPI_BYTE, rank));
  return rgi_error(said.error, "%s", said.text);
}

/* The error of the policy on the lowest rank that has met one. */
static int policy_report(rg_balancer b) {
  int rank = b->policy_error ? b->rank : b->size;
  RGI_TRY(rg_allreduce(b->all, MPI_IN_PLACE, &rank, 1, MPI_INT, MPI_MIN));
  return rank < b->size ? tell_all(b, rank, b->policy_error, b->policy_text) : RG_SUCCESS;
}

int rgi_outcome_report(rg_balancer b) {
  int64_t least[2] = {INT64_MAX, INT64_MAX}; /* id, and the rank that has it */
  const rg_balance_outcome *mine = NULL;
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
