/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Making a group's collective state: the parts come from the layers below, the tables of
 * algorithms from operation.h, so that hierarchical algorithms can use other operations
 * without knowing them. */
#include "collectives/group/coll_of_group.h"

#include <regroup/collectives.h>
#include <string.h>

#include "base/error.h"
#include "base/option_table.h"
#include "base/spare.h"
#include "collectives/algorithms/choice.h"
#include "collectives/algorithms/hier.h"
#include "collectives/group/operation.h"
#include "collectives/schedule/coll_state.h"
#include "formation/group.h"
#include "progress/request.h"
#include "runtime/runtime.h"

/* --- algorithms that the user asks for ------------------------------------------------ */

/* The parser of "name" and of
 * "hierarchical:between:inside", and the option RG_COLL, which rg_init reads. */
static int is_word(const char *text, size_t length, const char *word) {
  return strlen(word) == length && memcmp(text, word, length) == 0;
}

static int row_named(rg_operation op, const char *name, size_t length) {
  for (int i = 0; rgi_operation_algorithms[op][i].name; i++)
    if (is_word(name, length, rgi_operation_algorithms[op][i].name))
      return i;
  return -1;
}

/* The row of the algorithm between nodes or inside a node, which must send messages. */
static int message_row(rg_operation op, const char *name, size_t length) {
  int row = row_named(op, name, length);
  return row >= 0 && !(rgi_operation_algorithms[op][row].needs &
                       (RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_NODES))
             ? row
             : -1;
}

static int unknown_algorithm(const char *call, rg_operation op, const char *name, size_t length) {
  char list[256] = "auto";
  for (int i = 0; rgi_operation_algorithms[op][i].name; i++) {
    strncat(list, ", ", sizeof list - strlen(list) - 1);
    strncat(list, rgi_operation_algorithms[op][i].name, sizeof list - strlen(list) - 1);
  }
  return rgi_error(RG_ERR_OPTION, "%s: \"%.*s\" is no algorithm for %s here; there are: %s", call,
                   (int)length, name, rgi_operation_names[op], list);
}

/* "name", or "hierarchical:between:inside". */
static int parse_algorithm(const char *call, rg_operation op, const char *text, size_t length,
                           rgi_coll_forced *force) {
  const char *end = text + length;
  *force = RGI_COLL_NOT_FORCED;
  if (is_word(text, length, "auto"))
    return RG_SUCCESS;
  for (int i = 0; i < 3; i++) {
    const char *colon = memchr(text, ':', (size_t)(end - text));
    size_t n = (size_t)((colon ? colon : end) - text);
    rg_operation table = i == 0 ? op : i == 1 ? rgi_hier_op_between(op) : rgi_hier_op_inside(op);
    int row = i == 0 ? row_named(op, text, n) : message_row(table, text, n);
    if (row < 0)
      return unknown_algorithm(call, table, text, n);
    *(i == 0 ? &force->row : i == 1 ? &force->between : &force->inside) = (signed char)row;
    if (!colon)
      return RG_SUCCESS;
    if (i == 2 || !(rgi_operation_algorithms[op][force->row].needs & RGI_ALGORITHM_NODES))
      return unknown_algorithm(call, op, text, (size_t)(end - text));
    text = colon + 1;
  }
  return RG_SUCCESS;
}

/* A name as rg_group_set_algorithm takes it. RG_ERR_OPTION. */
static int parse_forced(const char *call, rg_operation op, const char *name,
                        rgi_coll_forced *force) {
  rgi_coll_forced found;
  RGI_TRY(parse_algorithm(call, op, name, strlen(name), &found));
  *force = found;
  return RG_SUCCESS;
}

static struct {
  rgi_coll_forced forced[RG_OP_COUNT];
  int any;
} environment;

static int unknown_setting(const char *text, size_t length) {
  char list[400] = "";
  for (int op = 0; op < RG_OP_COUNT; op++) {
    strncat(list, op ? ", " : "", sizeof list - strlen(list) - 1);
    strncat(list, rgi_operation_names[op], sizeof list - strlen(list) - 1);
  }
  return rgi_error(RG_ERR_OPTION,
                   "RG_COLL: \"%.*s\": expected operation=algorithm,... with operations of: %s",
                   length > 60 ? 60 : (int)length, text, list);
}

/* "operation=algorithm" */
static int parse_setting(const char *text, size_t length) {
  const char *equals = memchr(text, '=', length);
  size_t n = equals ? (size_t)(equals - text) : length;
  for (int op = 0; op < RG_OP_COUNT && equals; op++)
    if (is_word(text, n, rgi_operation_names[op])) {
      environment.any = 1;
      return parse_algorithm("RG_COLL", (rg_operation)op, equals + 1, length - n - 1,
                             &environment.forced[op]);
    }
  return unknown_setting(text, length);
}

static int read_environment(void) {
  const char *text = rgi_option_text(RGI_OPT_COLL);
  environment.any = 0;
  for (int op = 0; op < RG_OP_COUNT; op++)
    environment.forced[op] = RGI_COLL_NOT_FORCED;
  while (*text) {
    size_t n = strcspn(text, ",");
    if (n)
      RGI_TRY(parse_setting(text, n));
    text += n + (text[n] == ',');
  }
  return RG_SUCCESS;
}

__attribute__((constructor)) static void offer_reader(void) {
  rgi_runtime.read_algorithms = read_environment;
}

/* Overwrites entries of forced[RG_OP_COUNT] by what RG_COLL asks for; sets *any if the option
 * asks for anything. */
static void read_coll_option(rgi_coll_forced forced[], int *any) {
  *any |= environment.any;
  for (int op = 0; op < RG_OP_COUNT && environment.any; op++)
    if (environment.forced[op].row >= 0)
      forced[op] = environment.forced[op];
}

/* The group is freed. The members' shared state goes at once: the operations that are still under
 * way are non-blocking ones, which look at it only for an error, where it is there. */
static void end_coll(rgi_coll *coll) {
  rgi_shared_state *state = coll->state;
  int none = RG_SUCCESS, runs = state && state->epoch == rgi_runtime.epoch && rgi_runtime.started,
      broken = runs && state->memory ? atomic_load(&state->memory->broken) : RG_SUCCESS;
  rgi_requests_lock();
  atomic_compare_exchange_strong(&coll->failed, &none, broken);
  coll->state = NULL;
  rgi_requests_unlock();
  rgi_shared_state_free(state);
  rgi_coll_drop(coll);
}

static void free_coll(rg_group g) {
  end_coll(g->collectives);
}

static int make_coll(const char *call, rg_group g) {
  rgi_coll *coll = rgi_spare_alloc(sizeof *coll);
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
  atomic_init(&coll->failed_call, 0);
  coll->all = (rgi_subgroup){rgi_members_count(g->members), g->me, NULL};
  for (int op = 0; op < RG_OP_COUNT; op++)
    coll->forced[op] = RGI_COLL_NOT_FORCED;
  coll->forced_any = 0;
  coll->algorithms = rgi_operation_algorithms;
  read_coll_option(coll->forced, &coll->forced_any);
  int error = rgi_coll_nodes_find(call, g, &coll->nodes);
  if (!error)
    error = rgi_shared_state_make(g, &coll->state);
  if (error) {
    end_coll(coll);
    return error;
  }
  coll->lacks = rgi_choice_lacks(coll->state);
  coll->in_memory =
      coll->nodes.count == 1 &&
      (coll->all.size == 1 || rgi_choice_prefers_memory(coll->algorithms, coll->all.size));
  if (coll->nodes.count == 1 && !coll->in_memory &&
      !(coll->lengths = rgi_spare_alloc_zeroed(RG_OP_COUNT, sizeof *coll->lengths))) {
    end_coll(coll);
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
  }
  g->collectives = coll;
  g->collectives_free = free_coll;
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
  if (!state->memory || !atomic_load(&state->memory->broken)) {
    int failed = atomic_load(&coll->failed);
    *call = atomic_load(&coll->failed_call);
    return failed;
  }
  *call = atomic_load(&state->memory->broken_call);
  return atomic_load(&state->memory->broken);
}

int rg_group_set_algorithm(rg_group g, rg_operation operation, const char *name) {
  rgi_coll *coll;
  rgi_coll_forced forced;
  RGI_TRY(rgi_operation_check(__func__, operation));
  RGI_TRY(parse_forced(__func__, operation, name ? name : "auto", &forced));
  RGI_TRY(rgi_coll_get(__func__, g, &coll));
  coll->forced[operation] = forced;
  coll->forced_any = 0;
  for (int op = 0; op < RG_OP_COUNT; op++)
    coll->forced_any |= coll->forced[op].row >= 0;
  read_coll_option(coll->forced, &coll->forced_any);
  return RG_SUCCESS;
}

int rgi_coll_attach(const char *call, rg_group g) {
  rgi_coll *coll = NULL;
  RGI_TRY(rgi_coll_get(call, g, &coll));
  return coll->state->n > 1 && !coll->state->memory ? rgi_shared_state_attach(coll->state)
                                                    : RG_SUCCESS;
}

/* After a lack of memory the first collective does so. */
void rgi_coll_attach_surviving(const char *call, rg_group g) {
  rgi_coll *coll;
  rgi_arena_purpose before = rgi_arena_set_purpose(RGI_ARENA_SURVIVORS);
  if (rgi_coll_try(call, g, &coll) == RG_SUCCESS && coll->state->n > 1 && !coll->state->memory)
    rgi_shared_state_attach(coll->state);
  rgi_arena_set_purpose(before);
}
