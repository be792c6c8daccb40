/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Each process has the outcomes of the walkers that ended in a group it led. The error of
 * rg_balance_end is that of the failed walker with the smallest id, whichever process has it: two
 * reductions find id and rank, then that rank broadcasts error and text. A walker that failed since
 * another one did not come to a meeting counts only if no other has failed: the other one's error
 * is the reason. If no walker has failed, an error of the policy counts. */
#include <regroup/collectives.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "collectives/calls/group_error.h"
#include "walkers/team/membership.h"
#include "walkers/team/outcome_list.h"
#include "walkers/work/outcome.h"

typedef struct {
  int error;
  char text[RGI_OUTCOME_TEXT];
} outcome_report;

/* Returns the error that `rank` has, on every process. */
static int tell_all(const rgi_membership *members, int rank, int error, const char *text) {
  outcome_report said = {0};
  if (rank == members->rank) {
    said.error = error;
    snprintf(said.text, RGI_OUTCOME_TEXT, "%s", text);
  }
  RGI_TRY(rg_bcast(members->group, &said, sizeof said, MPI_BYTE, rank));
  return rgi_error(said.error, "%s", said.text);
}

/* The error of the policy on the lowest rank that has met one. */
static int policy_report(const rgi_membership *members, const rgi_planner *planner) {
  int rank = planner->error ? members->rank : members->size;
  RGI_TRY(rg_allreduce(members->group, MPI_IN_PLACE, &rank, 1, MPI_INT, MPI_MIN));
  return rank < members->size ? tell_all(members, rank, planner->error, planner->text) : RG_SUCCESS;
}

/* The first failed walker that this process has: of those that missed others, or of the rest. */
static const rg_balance_outcome *first_failed(const rgi_outcome_list *list, int run, int missed) {
  for (int i = 0; i < list->count; i++)
    if (list->at[i].error && list->at[i].run == run && list->at[i].missed == missed)
      return &list->at[i];
  return NULL;
}

int rgi_outcome_report(const rgi_membership *members, const rgi_outcome_list *list, int run,
                       const rgi_planner *planner) {
  const rg_balance_outcome *mine[2];
  int64_t id[2], rank;
  for (int missed = 0; missed < 2; missed++) {
    mine[missed] = first_failed(list, run, missed);
    id[missed] = mine[missed] ? mine[missed]->id : INT64_MAX;
  }
  RGI_TRY(rg_allreduce(members->group, MPI_IN_PLACE, id, 2, MPI_INT64_T, MPI_MIN));
  int missed = id[0] == INT64_MAX;
  const rg_balance_outcome *first = mine[missed];
  rank = first && first->id == id[missed] ? members->rank : INT64_MAX;
  RGI_TRY(rg_allreduce(members->group, MPI_IN_PLACE, &rank, 1, MPI_INT64_T, MPI_MIN));
  if (rank == INT64_MAX)
    return policy_report(members, planner);
  return tell_all(members, (int)rank, first ? first->error : 0, first ? first->text : "");
}

int rgi_outcome_is_root(const rgi_membership *members, int root) {
  return root >= RGI_OUTCOME_ALL && root < members->first_size;
}

int rgi_outcome_agree_root(const rgi_membership *members, int root, int error) {
  if (!error && !rgi_outcome_is_root(members, root))
    error = rgi_error(RG_ERR_RANK, "%s: no such root; the group's ranks go from 0 to %d",
                      members->call, members->first_size - 1);
  int64_t words[3] = {rgi_group_error_word(members->group, error), root, -root};
  RGI_TRY(rg_allreduce(members->group, MPI_IN_PLACE, words, 3, MPI_INT64_T, MPI_MAX));
  RGI_TRY(rgi_group_error_tell(members->group, members->call, words[0], error));
  if (words[1] != -words[2])
    return rgi_error(RG_ERR_MISMATCH,
                     "%s: processes name different roots, %lld and %lld for instance",
                     members->call, (long long)-words[2], (long long)words[1]);
  return RG_SUCCESS;
}
