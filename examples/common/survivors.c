/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Each step that the survivors do together ends with rg_group_agree. If a member has died, they
 * shrink the group and the caller repeats the step. */
#include "survivors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "death.h"
#include "runtime/program/program.h"

void common_must(int error, const char *call) {
  if (!error)
    return;
  const char *detail = rg_error_detail();
  fprintf(stderr, "%s: %s: %s\n", common_name, call, *detail ? detail : rg_error_string(error));
  common_abort(RGP_FAILED);
}

int common_survivors_expected(void) {
  const char *name, *value;
  int count = 0;
  common_must(rg_option_count(&count), "rg_option_count");
  for (int i = 0; i < count; i++)
    if (!rg_option_get(i, &name, &value, NULL, NULL, NULL, NULL) && !strcmp(name, "RG_SURVIVE"))
      return strcmp(value, "0") != 0;
  return 0;
}

static void look_who_is_first(common_survivors *survivors) {
  int rank;
  common_must(rg_group_rank(survivors->group, &rank), "rg_group_rank");
  survivors->first = rank == 0;
}

void common_survivors_open(common_survivors *survivors) {
  survivors->survives = common_survivors_expected();
  common_must(rg_group_world(&survivors->group), "rg_group_world");
  look_who_is_first(survivors);
}

void common_survivors_close(common_survivors *survivors) {
  common_must(rg_group_free(&survivors->group), "rg_group_free");
}

static void leave_the_dead(common_survivors *survivors) {
  rg_group next;
  common_must(rg_group_shrink(survivors->group, &next), "rg_group_shrink");
  rg_group_free(&survivors->group);
  survivors->group = next;
  look_who_is_first(survivors);
}

void common_survivors_go_on(const common_survivors *survivors, int error, const char *what) {
  if (!survivors->survives || (error != RG_ERR_PROC_FAILED && error != RG_ERR_REVOKED))
    common_must(error, what);
}

int common_survivors_settled(common_survivors *survivors, int error, const char *what) {
  unsigned well = error == RG_SUCCESS;
  int failed = 0;
  common_survivors_go_on(survivors, error, what);
  if (!survivors->survives)
    return 1;
  common_must(rg_group_agree(survivors->group, &well, &failed), "rg_group_agree");
  if (well && !failed)
    return 1;
  leave_the_dead(survivors);
  return 0;
}

/* Whether the first rank has died after all was well: then another one does its part. */
static int lost_first(common_survivors *survivors) {
  int dead[COMMON_DEATHS], n = 0;
  unsigned well = 1;
  if (!survivors->survives)
    return 0;
  common_must(rg_group_agree(survivors->group, &well, NULL), "rg_group_agree");
  common_must(rg_group_failed(survivors->group, COMMON_DEATHS, dead, &n), "rg_group_failed");
  for (int i = 0; i < n && i < COMMON_DEATHS; i++)
    well &= dead[i] != 0;
  common_must(rg_group_agree(survivors->group, &well, NULL), "rg_group_agree");
  if (!well)
    leave_the_dead(survivors);
  return !well;
}

void common_survivors_repeat(common_survivors *survivors, common_survivors_step *step, void *run,
                             const char *what) {
  while (!common_survivors_settled(survivors, step(run), what))
    ;
}

/* Gives all members what the first one has found. */
static int share_view(const common_survivors *survivors, int good) {
  unsigned word = (unsigned)good;
  if (survivors->survives)
    common_must(rg_group_agree(survivors->group, &word, NULL), "rg_group_agree");
  else
    common_must(rg_bcast(survivors->group, &word, 1, MPI_UNSIGNED, 0), "rg_bcast");
  return (int)word;
}

int common_survivors_finish(common_survivors *survivors, common_survivors_step *put_out,
                            common_survivors_step *collect, void *run) {
  int good = put_out(run);
  while (lost_first(survivors)) {
    common_survivors_repeat(survivors, collect, run, "collecting the results");
    good = put_out(run);
  }
  return share_view(survivors, good);
}

void common_survivors_save(common_survivors *survivors, common_survivors_step *save,
                           common_survivors_step *collect, void *run) {
  while (!common_survivors_settled(survivors, save(run), "saving"))
    common_survivors_repeat(survivors, collect, run, "collecting the results");
}

int common_survivors_root(const common_survivors *survivors, rg_group world, int *root) {
  int first = 0;
  return rg_group_translate(survivors->group, 1, &first, world, root);
}
