/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Each step that the survivors do together ends with rg_group_agree. If a member has died, they
 * shrink the group and the caller repeats the step. */
#include "survivors.h"

#include <string.h>

#include "death.h"
#include "run.h"

int mcmc_survivors_expected(void) {
  const char *name, *value;
  int count = 0;
  mcmc_run_must(rg_option_count(&count), "rg_option_count");
  for (int i = 0; i < count; i++)
    if (!rg_option_get(i, &name, &value, NULL, NULL, NULL, NULL) && !strcmp(name, "RG_SURVIVE"))
      return strcmp(value, "0") != 0;
  return 0;
}

static void look_who_is_first(mcmc_survivors *t) {
  int rank;
  mcmc_run_must(rg_group_rank(t->g, &rank), "rg_group_rank");
  t->first = rank == 0;
}

void mcmc_survivors_open(mcmc_survivors *t) {
  t->survives = mcmc_survivors_expected();
  mcmc_run_must(rg_group_world(&t->g), "rg_group_world");
  look_who_is_first(t);
}

void mcmc_survivors_close(mcmc_survivors *t) {
  mcmc_run_must(rg_group_free(&t->g), "rg_group_free");
}

static void leave_the_dead(mcmc_survivors *t) {
  rg_group next;
  mcmc_run_must(rg_group_shrink(t->g, &next), "rg_group_shrink");
  rg_group_free(&t->g);
  t->g = next;
  look_who_is_first(t);
}

void mcmc_survivors_go_on(const mcmc_survivors *t, int error, const char *what) {
  if (!t->survives || (error != RG_ERR_PROC_FAILED && error != RG_ERR_REVOKED))
    mcmc_run_must(error, what);
}

int mcmc_survivors_settled(mcmc_survivors *t, int error, const char *what) {
  unsigned well = error == RG_SUCCESS;
  int failed = 0;
  mcmc_survivors_go_on(t, error, what);
  if (!t->survives)
    return 1;
  mcmc_run_must(rg_group_agree(t->g, &well, &failed), "rg_group_agree");
  if (well && !failed)
    return 1;
  leave_the_dead(t);
  return 0;
}

int mcmc_survivors_lost_first(mcmc_survivors *t) {
  int dead[MCMC_DEATHS], n = 0;
  unsigned well = 1;
  if (!t->survives)
    return 0;
  mcmc_run_must(rg_group_agree(t->g, &well, NULL), "rg_group_agree");
  mcmc_run_must(rg_group_failed(t->g, MCMC_DEATHS, dead, &n), "rg_group_failed");
  for (int i = 0; i < n && i < MCMC_DEATHS; i++)
    well &= dead[i] != 0;
  mcmc_run_must(rg_group_agree(t->g, &well, NULL), "rg_group_agree");
  if (!well)
    leave_the_dead(t);
  return !well;
}

int mcmc_survivors_root(const mcmc_survivors *t, rg_group world, int *root) {
  int first = 0;
  return rg_group_translate(t->g, 1, &first, world, root);
}
