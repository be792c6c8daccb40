/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How walkers have ended: those that this process tells of, by their ids. */
#ifndef RGI_WALKERS_OUTCOME_H
#define RGI_WALKERS_OUTCOME_H

#include <regroup/balance.h>

/* What was wrong, at most. */
#define RGI_OUTCOME_TEXT 256

typedef struct {
  rg_outcome *at;
  int count, room;
} rgi_outcomes;

/* State and text are copied. */
int rgi_outcome_add(rg_balancer b, const rg_outcome *o);
int rgi_outcomes_insert(rgi_outcomes *list, const rg_outcome *o);
int rgi_outcomes_append(rgi_outcomes *list, const rg_outcome *o); /* to be sorted afterwards */
void rgi_outcomes_sort(rgi_outcomes *list);
void rgi_outcomes_free(rgi_outcomes *o);

/* The error of rg_balance_end. Every process. */
int rgi_outcome_report(rg_balancer b);

#endif
