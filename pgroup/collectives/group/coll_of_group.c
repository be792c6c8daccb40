/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Making a group's collective state: the parts come from the layers below, the tables of
 * algorithms from operation.h, so that hierarchical algorithms can use other operations
 * without knowing them. */
#include "collectives/group/coll_of_group.h"

#include <stdlib.h>

#include "base/error.h"
#include "collectives/algorithms/choice.h"
#include "collectives/group/force.h"
#include "collectives/group/operation.h"
#include "collectives/schedule/coll_failure.h"
#include "formation/group.h"
#include "progress/request.h"

/* The group is freed. The members' shared state goes at once: the operations that are still under
 * way are non-blocking ones, which look at it only for an error, where it is there. */
static void end_coll(void *collectives) {
  rgi_coll *coll = collectives;
  rgi_shared_state *state = coll->state;
  rgi_requests_lock();
  coll->state = NULL;
  rgi_requests_unlock();
  rgi_shared_state_free(state);
  rgi_coll_drop(coll);
}

static int make_coll(const char *call, rg_group g) {
  rgi_coll *coll = malloc(sizeof *coll);
  if (!coll)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
  atomic_init(&coll->users, 1);
  coll->members = rgi_members_share(g->members);
  coll->context = rgi_coll_context(g->context);
  coll->own_sequence = 0;
  coll->sequence = g->is_world ? &rgi_runtime.world_sequence : &coll->own_sequence;
  coll->state = NULL;
  coll->nodes.of = NULL;
  coll->lengths = NULL;
  coll->missed = 0;
  atomic_init(&coll->failed, RG_SUCCESS);
  coll->all = (rgi_subgroup){rgi_members_count(g->members), g->me, NULL};
  for (int op = 0; op < RG_OP_COUNT; op++)
    coll->forced[op] = RGI_COLL_NOT_FORCED;
  coll->forced_any = 0;
  coll->algorithms = rgi_operation_algorithms;
  rgi_force_environment(coll->forced, &coll->forced_any);
  int error = rgi_coll_nodes_find(call, g, &coll->nodes);
  if (!error)
    error = rgi_shared_state_make(g, &coll->state);
  if (error) {
    end_coll(coll);
    return error;
  }
  coll->in_memory =
      coll->nodes.count == 1 &&
      (coll->all.size == 1 || rgi_choice_prefers_memory(coll->algorithms, coll->all.size));
  if (coll->nodes.count == 1 && !coll->in_memory &&
      !(coll->lengths = calloc(RG_OP_COUNT, sizeof *coll->lengths))) {
    end_coll(coll);
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
  }
  g->collectives = coll;
  g->collectives_free = end_coll;
  return RG_SUCCESS;
}

int rgi_coll_try(const char *call, rg_group g, rgi_coll **coll) {
  RGI_TRY(rgi_group_check_member(call, g));
  if (g->collectives_failed)
    return rgi_error(
        RG_ERR_MISMATCH,
        "%s: this process had no memory for the group's collectives; form the group anew "
        "(rg_group_dup)",
        call);
  int error = g->collectives ? RG_SUCCESS : make_coll(call, g);
  *coll = g->collectives;
  return error;
}

int rgi_coll_get(const char *call, rg_group g, rgi_coll **coll) {
  int error = rgi_coll_try(call, g, coll);
  if (!error)
    (*coll)->state->used = 1;
  return error == RG_ERR_NOMEM ? rgi_coll_failure_absent(g, call, error) : error;
}

int rgi_coll_error(rg_group g, uint32_t *call) {
  const rgi_coll *coll = g->collectives;
  const rgi_shared_state *state = coll->state;
  *call = 0;
  if (!state->memory || !atomic_load(&state->memory->broken))
    return atomic_load(&coll->failed);
  if (coll->nodes.count == 1)
    *call = atomic_load(&state->memory->broken_call);
  return atomic_load(&state->memory->broken);
}

int rgi_coll_prefers_memory(const rgi_coll *coll, rg_operation op, size_t bytes) {
  return coll->lengths && rgi_choice_length_prefers_memory(&coll->lengths[op], coll->algorithms[op],
                                                           op, coll->all.size, bytes);
}

int rg_group_set_algorithm(rg_group g, rg_operation operation, const char *name) {
  rgi_coll *coll;
  rgi_coll_forced forced;
  RGI_TRY(rgi_operation_check(__func__, operation));
  RGI_TRY(rgi_force_parse(__func__, operation, name ? name : "auto", &forced));
  RGI_TRY(rgi_coll_get(__func__, g, &coll));
  coll->forced[operation] = forced;
  coll->forced_any = 0;
  for (int op = 0; op < RG_OP_COUNT; op++)
    coll->forced_any |= coll->forced[op].row >= 0;
  rgi_force_environment(coll->forced, &coll->forced_any);
  return RG_SUCCESS;
}

int rgi_coll_attach(const char *call, rg_group g) {
  rgi_coll *coll = NULL;
  RGI_TRY(rgi_coll_get(call, g, &coll));
  return coll->state->n > 1 && !coll->state->memory ? rgi_shared_state_attach(coll->state)
                                                    : RG_SUCCESS;
}

void rgi_coll_attach_surviving(const char *call, rg_group g) {
  rgi_arena_purpose before = rgi_arena_set_purpose(RGI_ARENA_SURVIVORS);
  rgi_coll_attach(call, g);
  rgi_arena_set_purpose(before);
}
