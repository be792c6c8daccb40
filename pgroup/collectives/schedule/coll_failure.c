/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Two ways: the shared state of the members on this node is broken, and each member on another node
 * gets a message, the number of the call, under a tag that no operation has. A member
 * that waits for messages looks for both. */
#include "collectives/schedule/coll_state.h"

#include <stdio.h>

#include "base/error.h"
#include "collectives/node/step.h"
#include "formation/group.h"
#include "message/message.h"
#include "shm/node.h"

#define FAILURE_TAG (1 << 30) /* no operation has it */

static int must_be_told(int error) {
  return error != RG_ERR_PROC_FAILED && error != RG_ERR_REVOKED && error != RG_ERR_TIMEOUT &&
         error != RG_ERR_MPI;
}

/* Where the members on this node wait. The state is gone with the group, as is who waits there. */
static int break_state(rgi_coll *coll, int error) {
  if (!coll->state)
    return error;
  if (coll->state->n > 1 && !coll->state->memory)
    rgi_shared_state_attach(coll->state);
  return rgi_step_failed_in(coll->state, error, atomic_load(&coll->failed_call));
}

/* Once, by a member that has met or learned of an error. number: of its call; 0: not known. */
static int note_failure(rgi_coll *coll, int error, uint32_t number) {
  unsigned none = 0;
  int no_error = RG_SUCCESS;
  atomic_compare_exchange_strong(&coll->failed_call, &none, number);
  return atomic_compare_exchange_strong(&coll->failed, &no_error, error);
}

/* The call in which a member on this node has met the first error, else the caller's. */
static uint32_t call_here(const rgi_coll *coll) {
  const rgi_shared_state *state = coll->state;
  uint32_t found = state && state->memory ? atomic_load(&state->memory->broken_call) : 0;
  return found || !state ? found : state->call;
}

/* The first member from i on that is on another node; the number of members: there is none. */
static int next_elsewhere(const rgi_members *members, int i) {
  int n = rgi_members_count(members);
  while (i < n && (rgi_node.count == 1 || rgi_node_of(rgi_members_at(members, i)) == rgi_node.mine))
    i++;
  return i;
}

static rgi_message_envelope word_to(const rgi_members *members, uint64_t context, int i) {
  return (rgi_message_envelope){.context = context,
                                .peer = rgi_members_at(members, i),
                                .tag = FAILURE_TAG,
                                .bytes = sizeof(uint32_t)};
}

static void tell_other_nodes(const rgi_members *members, uint64_t context, uint32_t number,
                             const char *call) {
  for (int i = next_elsewhere(members, 0), n = rgi_members_count(members); i < n;
       i = next_elsewhere(members, i + 1)) {
    rgi_message_envelope to = word_to(members, context, i);
    rgi_message_deliver(&to, &number, call); /* the others are told also where one cannot be */
  }
}

int rgi_coll_failure_tell(rgi_coll *coll, const char *call, int error) {
  char text[RGI_ERROR_TEXT];
  if (!must_be_told(error) || !note_failure(coll, error, call_here(coll)))
    return error;
  snprintf(text, sizeof text, "%s", rg_error_detail());
  break_state(coll, error);
  tell_other_nodes(coll->members, coll->context, atomic_load(&coll->failed_call), call);
  return rgi_error(error, "%s", text);
}

static void drop_messages(rg_group g) {
  rgi_message_forget(rgi_coll_context(g->context));
}

int rgi_coll_failure_begin(rgi_coll *coll, rgi_coll_word *word, int error) {
  if (!must_be_told(error) || !note_failure(coll, error, word->number))
    return 0;
  if (coll->state)
    rgi_shared_state_note(coll->state, error, word->number);
  word->next = next_elsewhere(coll->members, 0);
  atomic_init(&word->message.done, 1);
  return 1;
}

int rgi_coll_failure_progress(rgi_coll *coll, rgi_coll_word *word) {
  while (atomic_load(&word->message.done) && word->next < coll->all.size) {
    rgi_message_envelope to = word_to(coll->members, coll->context, word->next);
    if (rgi_message_send_surely(&to, &word->number, &word->message))
      atomic_store(&word->message.done, 1);
    word->next = next_elsewhere(coll->members, word->next + 1);
  }
  return atomic_load(&word->message.done);
}

int rgi_coll_failure_absent(rg_group g, const char *call, int error) {
  char text[RGI_ERROR_TEXT];
  snprintf(text, sizeof text, "%s", rg_error_detail());
  rgi_shared_state_break(g, error);
  tell_other_nodes(g->members, rgi_coll_context(g->context), 0, call);
  g->collectives_failed = 1;
  g->collectives_free = drop_messages;
  return rgi_error(error, "%s", text);
}

/* number: of the call that it names. */
static int find_word(rgi_coll *coll, uint32_t *number, int *there) {
  rgi_message_envelope wanted = {.context = coll->context, .peer = RGI_ANY, .tag = FAILURE_TAG},
                       found;
  rgi_message_cell *taken;
  rgi_message message;
  int here = coll->state ? rgi_shared_state_error(coll->state) : RG_SUCCESS;
  *there = here && must_be_told(here);
  *number = *there ? call_here(coll) : 0;
  if (*there || coll->nodes.count == 1)
    return RG_SUCCESS;
  RGI_TRY(rgi_message_probe(&wanted, there, &found, &taken));
  if (*there)
    rgi_message_accept(taken, number, sizeof *number, &message);
  return RG_SUCCESS;
}

int rgi_coll_failure_look(rgi_coll *coll, const char *call) {
  uint32_t number;
  int there;
  if (!atomic_load(&coll->failed)) {
    RGI_TRY(find_word(coll, &number, &there));
    if (!there)
      return RG_SUCCESS;
    note_failure(coll, RG_ERR_MISMATCH, number);
  }
  return rgi_error(RG_ERR_MISMATCH,
                   "%s: an operation of this group ended in an error on a member on another node, "
                   "or on this one; form the group anew (rg_group_dup)",
                   call);
}

int rgi_coll_failure_check(rgi_coll *coll, const char *call) {
  if (!atomic_load_explicit(&coll->failed, memory_order_relaxed))
    return RG_SUCCESS;
  return break_state(coll, rgi_coll_failure_look(coll, call));
}
