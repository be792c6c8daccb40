/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "team.h"

#include <string.h>

#include "kill.h"
#include "run.h"

int mcmc_may_survive(void) {
  const char *name, *value;
  int count = 0;
  mcmc_must(rg_option_count(&count), "rg_option_count");
  for (int i = 0; i < count; i++)
    if (!rg_option_get(i, &name, &value, NULL, NULL, NULL, NULL) && !strcmp(name, "RG_SURVIVE"))
      return strcmp(value, "0") != 0;
  return 0;
}

static void look_who_is_first(mcmc_team *t) {
  int rank;
  mcmc_must(rg_group_rank(t->g, &rank), "rg_group_rank");
  t->first = rank == 0;
}

void mcmc_team_open(mcmc_team *t) {
  t->survives = mcmc_may_survive();
  mcmc_must(rg_group_world(&t->g), "rg_group_world");
  look_who_is_first(t);
}

void mcmc_team_close(mcmc_team *t) {
  mcmc_must(rg_group_free(&t->g), "rg_group_free");
}

static void leave_the_dead(mcmc_team *t) {
  rg_group next;
  mcmc_must(rg_group_shrink(t->g, &next), "rg_group_shrink");
  rg_group_free(&t->g);
  t->g = next;
  look_who_is_first(t);
}

void mcmc_team_go_on(const mcmc_team *t, int error, const char *what) {
  if (!t->survives || (error != RG_ERR_PROC_FAILED && error != RG_ERR_REVOKED))
    mcmc_must(error, what);
}

int mcmc_team_settled(mcmc_team *t, int error, const char *what) {
  unsigned well = error == RG_SUCCESS;
  int failed = 0;
  mcmc_team_go_on(t, error, what);
  if (!t->survives)
    return 1;
  mcmc_must(rg_group_agree(t->g, &well, &failed), "rg_group_agree");
  if (well && !failed)
    return 1;
  leave_the_dead(t);
  return 0;
}

int mcmc_team_lost_first(mcmc_team *t) {
  int dead[MCMC_DEATHS], n = 0;
  unsigned well = 1;
  if (!t->survives)
    return 0;
  mcmc_must(rg_group_agree(t->g, &well, NULL), "rg_group_agree");
  mcmc_must(rg_group_failed(t->g, MCMC_DEATHS, dead, &n), "rg_group_failed");
  for (int i = 0; i < n && i < MCMC_DEATHS; i++)
    well &= dead[i] != 0;
  mcmc_must(rg_group_agree(t->g, &well, NULL), "rg_group_agree");
  if (!well)
    leave_the_dead(t);
  return !well;
}

int mcmc_team_root(const mcmc_team *t, rg_group world, int *root) {
  int first = 0;
  return rg_group_translate(t->g, 1, &first, world, root);
}
