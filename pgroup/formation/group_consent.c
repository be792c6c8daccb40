/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Agreement during a creation. Each message carries the creation's id, since an error may leave
 * some behind: a member that is told the decision before it has reported does not report any
 * more, and its children's reports come when nobody waits for them. The next call drops messages
 * of another id.
 *
 * While a member waits for its children's reports it looks for its parent's decision, too: a
 * process that is in two overlapping groups reports in one of them only, and the leaders find
 * that (handshake.c). */
#include "formation/group_consent.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "base/spare.h"
#include "formation/binomial.h"
#include "formation/group_tree.h"
#include "message/message.h"

/* A message, as ints: the head, the data. ID, WHAT: two ints each. */
enum { ID, WHAT = ID + 2, ERROR = WHAT + 2, RANK, HEAD };
_Static_assert(HEAD == RGI_GROUP_CONSENT_HEAD, "as the header says");

static void note_error(rgi_group_consent *consent, int error, int rank) {
  if (error && !consent->error) {
    consent->error = error;
    consent->rank = rank;
  }
}

void rgi_group_consent_fail(rgi_group_consent *consent, int error, int rank) {
  if (!consent->own)
    consent->own = error;
  note_error(consent, error, rank);
}

rgi_group_consent rgi_group_consent_begin(rg_group g, const char *call, uint64_t what, int error,
                                          int room) {
  rgi_group_consent consent = {
      .g = g, .call = call, .what = what, .id = rgi_group_creation_begin(g), .room = HEAD + room};
  if (error)
    rgi_group_consent_fail(&consent, error, g->me);
  consent.in = rgi_spare_alloc((size_t)consent.room * sizeof *consent.in);
  if (!consent.in) {
    consent.room = HEAD;
    rgi_group_consent_fail(
        &consent, rgi_error(RG_ERR_NOMEM, "%s: no memory for %d numbers", call, room), g->me);
  }
  return consent;
}

/* --- messages ----------------------------------------------------------------------- */

static rgi_message_envelope envelope_of(const rgi_group_consent *consent, int member, int count) {
  return (rgi_message_envelope){.context = rgi_mix_bits(consent->g->context + 0x61677265u),
                                .peer = rgi_members_at(consent->g->members, member),
                                .bytes = (size_t)count * sizeof(int)};
}

static int send_to(const rgi_group_consent *consent, int member, const int message[], int count) {
  rgi_message_envelope to = envelope_of(consent, member, count);
  return rgi_message_deliver(&to, message, consent->call);
}

static int *received(rgi_group_consent *consent) {
  return consent->in ? consent->in : consent->head;
}

/* The next message of this creation from member `from`, or from the parent. */
static int receive_from(rgi_group_consent *consent, int from, int *by_parent, int *count) {
  int *message = received(consent);
  int parent = rgi_binomial_parent(consent->g->me);
  rgi_message_envelope wanted[2] = {envelope_of(consent, from, 0)};
  if (parent >= 0)
    wanted[1] = envelope_of(consent, parent, 0);
  for (;;) {
    int source;
    RGI_TRY(rgi_group_tree_receive_into(wanted, parent >= 0 ? 2 : 1, consent->call, consent->room,
                                        message, &source, count));
    *by_parent = parent >= 0 && source == wanted[1].peer;
    if (*count >= HEAD && rgi_group_tree_get_uint64(message + ID) == consent->id)
      return RG_SUCCESS;
  }
}

static void fill_head(const rgi_group_consent *consent, int message[]) {
  rgi_group_tree_put_uint64(message + ID, consent->id);
  rgi_group_tree_put_uint64(message + WHAT, consent->what);
  message[ERROR] = consent->error;
  message[RANK] = consent->rank;
}

/* --- up ------------------------------------------------------------------------------- */

static void lose(rgi_group_consent *consent, int error) {
  consent->lost = 1;
  rgi_group_consent_fail(consent, error, consent->g->me);
}

/* A child's report, with the blocks of its subtree: the ranks child .. child + n/width - 1. Or the
 * decision. room: of block. */
static void take_report(rgi_group_consent *consent, int child, int width, int block[], int room) {
  int by_parent, count, at = (child - consent->g->me) * width;
  int error = receive_from(consent, child, &by_parent, &count);
  const int *message = received(consent);
  if (error) {
    lose(consent, error);
    return;
  }
  if (by_parent) {
    consent->told = 1;
    consent->count = count;
    return;
  }
  note_error(consent, message[ERROR], message[RANK]);
  if (rgi_group_tree_get_uint64(message + WHAT) != consent->what || at + count - HEAD > room)
    note_error(consent, RG_ERR_MISMATCH, child);
  if (block && !consent->error)
    memcpy(block + at, message + HEAD, (size_t)(count - HEAD) * sizeof *message);
}

static void take_reports(rgi_group_consent *consent, int width, const int mine[], int block[],
                         int room) {
  int child[RGI_BINOMIAL_CHILDREN];
  int children =
      rgi_binomial_children(consent->g->me, rgi_members_count(consent->g->members), child);
  if (block && width)
    memcpy(block, mine, (size_t)width * sizeof *mine);
  for (int i = 0; i < children && !consent->lost && !consent->told; i++)
    take_report(consent, child[i], width, block, room);
}

void rgi_group_consent_gather(rgi_group_consent *consent, int width, const int mine[], int all[]) {
  int me = consent->g->me, size = rgi_members_count(consent->g->members), head[HEAD];
  int span = me ? me & -me : size; /* how many ranks the subtree may hold */
  if (span > size - me)
    span = size - me;
  int *message =
      me ? rgi_spare_alloc((HEAD + (size_t)span * (size_t)width) * sizeof *message) : NULL;
  if (me && !message)
    rgi_group_consent_fail(
        consent, rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", consent->call, span), me);
  take_reports(consent, width, mine, me ? (message ? message + HEAD : NULL) : all, span * width);
  if (me && !consent->told) {
    fill_head(consent, message ? message : head);
    int error = send_to(consent, rgi_binomial_parent(me), message ? message : head,
                        consent->error ? HEAD : HEAD + span * width);
    if (error)
      lose(consent, error);
  }
  rgi_spare_free(message);
}

/* --- down ----------------------------------------------------------------------------- */

/* The decision as a message: member 0's, the parent's, or that the caller has lost it. */
static void find_decision(rgi_group_consent *consent, int count, const int ints[]) {
  int me = consent->g->me, parent = rgi_binomial_parent(me), by_parent;
  if (me && !consent->told && !consent->lost) {
    int error = receive_from(consent, parent, &by_parent, &consent->count);
    if (error)
      lose(consent, error);
    else
      consent->told = 1;
  }
  if (consent->told)
    return;
  consent->count = consent->error ? HEAD : HEAD + count;
  if (!consent->error) /* member 0 */
    memcpy(consent->in + HEAD, ints, (size_t)count * sizeof *ints);
  fill_head(consent, received(consent));
}

static void pass_on(rgi_group_consent *consent, const int message[]) {
  int child[RGI_BINOMIAL_CHILDREN];
  int children =
      rgi_binomial_children(consent->g->me, rgi_members_count(consent->g->members), child);
  for (int i = children - 1; i >= 0; i--) {
    int error = send_to(consent, child[i], message, consent->count);
    if (error)
      lose(consent, error);
  }
}

static int explain_decision(const rgi_group_consent *consent) {
  if (!consent->error || consent->rank == RGI_GROUP_CONSENT_ELSEWHERE)
    return consent->error;
  if (consent->error == RG_ERR_MISMATCH)
    return rgi_error(RG_ERR_MISMATCH,
                     "%s: rank %d of the group makes another call than rank %d, or passes another "
                     "tag, high or list; all members of a group pass the same",
                     consent->call, consent->rank, rgi_binomial_parent(consent->rank));
  return rgi_error_from(consent->error, consent->call, consent->rank, NULL);
}

int rgi_group_consent_tell(rgi_group_consent *consent, int *count, int **ints) {
  find_decision(consent, *count, *ints);
  const int *decision = received(consent);
  pass_on(consent, decision);
  consent->error = decision[ERROR];
  consent->rank = decision[RANK];
  int error = consent->own ? consent->own : explain_decision(consent);
  if (!error && consent->g->me) {
    *count = consent->count - HEAD;
    memmove(consent->in, consent->in + HEAD, (size_t)*count * sizeof *consent->in);
    *ints = consent->in;
  } else {
    rgi_spare_free(consent->in);
  }
  return error;
}
