/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A list of outcomes in an array that doubles. Each outcome has copies of its text and its state;
 * they are freed with the list. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/spare.h"
#include "walkers/team/outcome_list.h"

static void free_outcome(const rg_balance_outcome *outcome) {
  rgi_spare_free((void *)(uintptr_t)outcome->text);
  rgi_spare_free((void *)(uintptr_t)outcome->state);
}

void rgi_outcome_list_free(rgi_outcome_list *list) {
  for (int i = 0; i < list->count; i++)
    free_outcome(&list->at[i]);
  rgi_spare_free(list->at);
  *list = (rgi_outcome_list){0};
}

int rgi_outcome_list_append(rgi_outcome_list *list, const rg_balance_outcome *outcome) {
  RGI_TRY(rgi_grow(&list->at, list->count, &list->room, sizeof *list->at,
                   "no memory for %lld outcomes"));
  rg_balance_outcome copy = *outcome;
  void *state = outcome->state ? rgi_spare_alloc(outcome->bytes ? outcome->bytes : 1) : NULL;
  copy.text = strdup(outcome->text);
  if (!copy.text || (outcome->state && !state)) {
    rgi_spare_free(state);
    rgi_spare_free((void *)(uintptr_t)copy.text);
    return rgi_error(RG_ERR_NOMEM, "no memory for the outcome of walker %lld",
                     (long long)outcome->id);
  }
  if (state)
    memcpy(state, outcome->state, outcome->bytes);
  copy.state = state;
  list->at[list->count++] = copy;
  return RG_SUCCESS;
}

static int by_id(const void *a, const void *b) {
  const rg_balance_outcome *x = a, *y = b;
  return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : (x->run > y->run) - (x->run < y->run);
}

void rgi_outcome_list_sort(rgi_outcome_list *list) {
  if (list->count > 0)
    qsort(list->at, (size_t)list->count, sizeof *list->at, by_id);
}

int rgi_outcome_list_insert(rgi_outcome_list *list, const rg_balance_outcome *outcome) {
  RGI_TRY(rgi_outcome_list_append(list, outcome));
  int i = list->count - 1;
  for (; i > 0 && by_id(&list->at[i - 1], &list->at[i]) > 0; i--) {
    rg_balance_outcome later = list->at[i - 1];
    list->at[i - 1] = list->at[i];
    list->at[i] = later;
  }
  return RG_SUCCESS;
}
