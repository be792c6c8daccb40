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
#include "collectives/group_error.h"
#include "walkers/membership.h"
#include "walkers/outcome.h"
#include "walkers/outcome_list.h"

typedef struct {
  int error;
  char text[RGI_OUTCOME_TEXT];
} outcome_report;

/* Returns the error that `rank` has, on every process. */
static int tell_all(const rgi_membership *m, int rank, int error, const char *text) {
  outcome_report said = {0};
  if (rank == m->rank) {
    said.error = error;
    snprintf(said.text, RGI_OUTCOME_TEXT, "%s", text);
  }
  RGI_TRY(rg_bcast(m->group, &said, sizeof said, MPI_BYTE, rank));
  return rgi_error(said.error, "%s", said.text);
}

/* The error of the policy on the lowest rank that has met one. */
static int policy_report(const rgi_membership *m, const rgi_planner *p) {
  int rank = p->error ? m->rank : m->size;
  RGI_TRY(rg_allreduce(m->group, MPI_IN_PLACE, &rank, 1, MPI_INT, MPI_MIN));
  return rank < m->size ? tell_all(m, rank, p->error, p->text) : RG_SUCCESS;
}

int rgi_outcome_report(const rgi_membership *m, const rgi_outcome_list *list, int run,
                       const rgi_planner *p) {
  int64_t least[2] = {INT64_MAX, INT64_MAX}; /* id, and the rank that has it */
  const rg_balance_outcome *mine = NULL;
  for (int i = 0; i < list->count && !mine; i++)
    if (list->at[i].error && list->at[i].run == run)
      mine = &list->at[i];
  least[0] = mine ? mine->id : INT64_MAX;
  int64_t id = least[0];
  RGI_TRY(rg_allreduce(m->group, MPI_IN_PLACE, &id, 1, MPI_INT64_T, MPI_MIN));
  least[1] = mine && mine->id == id ? m->rank : INT64_MAX;
  RGI_TRY(rg_allreduce(m->group, MPI_IN_PLACE, &least[1], 1, MPI_INT64_T, MPI_MIN));
  if (least[1] == INT64_MAX)
    return policy_report(m, p);
  return tell_all(m, (int)least[1], mine ? mine->error : 0, mine ? mine->text : "");
}

int rgi_outcome_is_root(const rgi_membership *m, int root) {
  return root >= RGI_OUTCOME_ALL && root < m->first_size;
}

int rgi_outcome_agree_root(const rgi_membership *m, int root, int error) {
  if (!error && !rgi_outcome_is_root(m, root))
    error = rgi_error(RG_ERR_RANK, "%s: no such root; the group's ranks go from 0 to %d", m->call,
                      m->first_size - 1);
  int64_t words[3] = {rgi_group_error_word(m->group, error), root, -root};
  RGI_TRY(rg_allreduce(m->group, MPI_IN_PLACE, words, 3, MPI_INT64_T, MPI_MAX));
  RGI_TRY(rgi_group_error_tell(m->group, m->call, words[0], error));
  if (words[1] != -words[2])
    return rgi_error(RG_ERR_MISMATCH,
                     "%s: processes name different roots, %lld and %lld for instance", m->call,
                     (long long)-words[2], (long long)words[1]);
  return RG_SUCCESS;
}
