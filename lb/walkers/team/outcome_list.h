/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A list of outcomes, sorted by the ids of their walkers, and those of one id by their runs. */
#ifndef RGI_TEAM_OUTCOME_LIST_H
#define RGI_TEAM_OUTCOME_LIST_H

#include <regroup/balance.h>

#include "base/error.h"

/* Bytes of an error's text, with the 0 at its end. */
#define RGI_OUTCOME_TEXT RGI_ERROR_TEXT

typedef struct {
  rg_balance_outcome *at;
  int count;
  int64_t room;
} rgi_outcome_list;

/* Adds a copy of an outcome, its text and its state: in its place; or at the end, so that the
 * caller must sort afterwards. */
int rgi_outcome_list_insert(rgi_outcome_list *list, const rg_balance_outcome *outcome);
int rgi_outcome_list_append(rgi_outcome_list *list, const rg_balance_outcome *outcome);
void rgi_outcome_list_sort(rgi_outcome_list *list);
void rgi_outcome_list_free(rgi_outcome_list *list);

#endif
