/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "formation/meeting.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formation/context.h"
#include "formation/spread.h"
#include "message/message.h"
#include "noded/guardian.h"
#include "runtime/runtime.h"
#include "shm/failure.h"
#include "shm/revocation.h"

/* A letter, as ints: the head, the ranks that leave, the packed members. NUMBER: of
 * the operation, two ints. */
enum { KIND, HIGH, ERROR, LEAVING, APART, NUMBER, HEAD = NUMBER + 2 };

typedef struct {
  int count, *ints;
} letter;

static uint64_t number_of(const letter *l) {
  return rgi_number_in(l->ints + NUMBER);
}

static int write_letter(const char *call, rg_group mine, const rgi_proposal *p, uint64_t number,
                        letter *l) {
  l->count = HEAD + p->n + rgi_members_packed(mine->members);
  l->ints = malloc((size_t)l->count * sizeof *l->ints);
  if (!l->ints)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
  l->ints[KIND] = (int)p->kind;
  l->ints[HIGH] = p->high;
  l->ints[ERROR] = p->error;
  l->ints[LEAVING] = p->n;
  l->ints[APART] = mine->apart;
  rgi_put_number(l->ints + NUMBER, number);
  if (p->n)
    memcpy(l->ints + HEAD, p->leaving, (size_t)p->n * sizeof *p->leaving);
  rgi_members_pack(mine->members, l->ints + HEAD + p->n);
  return RG_SUCCESS;
}

/* --- the first members ----------------------------------------------------------- */

static uint64_t letters(void) {
  return rgi_mix(0x6d656574u);
}

static uint64_t confirmations(void) {
  return rgi_mix(0x636f6e66u);
}

/* The next letter that holds. One whose sender's side has got an error meanwhile does
 * not, and its sender does not wait for an answer. */
static int receive_letter(const char *call, int remote, int tag, letter *theirs) {
  for (;;) {
    letter l;
    RGI_TRY(rgi_receive_ints(letters(), remote, tag, call, &l.count, &l.ints));
    free(theirs->ints);
    *theirs = l;
    if (!rgi_is_revoked(number_of(&l)))
      return RG_SUCCESS;
  }
}

/* Where deaths are survived, a letter may be the answer to an earlier one, whose sender
 * has got an error and tries again. So each side tells which two letters it takes to
 * belong together; theirs is the right one when both sides say the same. */
static int confirm(const char *call, uint64_t mine, int remote, int tag, letter *theirs) {
  uint64_t pair[2] = {mine, number_of(theirs)}, said[2] = {0, 0};
  RGI_TRY(rgi_message_deliver(confirmations(), remote, tag, pair, sizeof pair, call));
  while (said[0] != pair[1] || said[1] != mine) {
    int count, *ints;
    RGI_TRY(rgi_receive_ints(confirmations(), remote, tag, call, &count, &ints));
    memcpy(said, ints, sizeof said);
    free(ints);
    while (said[1] == mine && said[0] != pair[1]) { /* it has sent another one since */
      RGI_TRY(receive_letter(call, remote, tag, theirs));
      pair[1] = number_of(theirs);
      RGI_TRY(rgi_message_deliver(confirmations(), remote, tag, pair, sizeof pair, call));
    }
  }
  return RG_SUCCESS;
}

/* The first members exchange their letters. */
static int exchange(const char *call, const letter *mine, int remote, int tag, letter *theirs) {
  rgi_request r;
  RGI_TRY(
      rgi_message_send(letters(), remote, tag, mine->ints, (size_t)mine->count * sizeof(int), &r));
  int error = receive_letter(call, remote, tag, theirs);
  if (error) {
    rgi_message_abandon(&r);
    return error;
  }
  RGI_TRY(rgi_message_wait(&r, call));
  return rgi_guarded() ? confirm(call, number_of(mine), remote, tag, theirs) : RG_SUCCESS;
}

static int explain(const char *call, int error) {
  if (error == RG_ERR_MISMATCH)
    return rgi_error(
        error, "%s: the two groups do not make the same call, or both say the same for high", call);
  return rgi_error(error, "%s: %s: told by a leader of the two groups", call,
                   rg_error_string(error));
}

/* What both first members find alike when they look at both letters. */
static int compare(const char *call, const int mine[], const int theirs[]) {
  if (mine[ERROR]) /* its text is there already */
    return mine[ERROR];
  if (theirs[ERROR])
    return explain(call, theirs[ERROR]);
  if (mine[KIND] != theirs[KIND] || (mine[KIND] == RGI_MERGE && mine[HIGH] == theirs[HIGH]))
    return explain(call, RG_ERR_MISMATCH);
  return RG_SUCCESS;
}

/* The leader's part. */
static int lead(const char *call, rg_group mine, const rgi_proposal *p, uint64_t number,
                letter *theirs) {
  letter own = {0};
  int world = -1;
  RGI_TRY(rgi_group_check(call, p->parent));
  if (p->remote_leader < 0 || p->remote_leader >= rgi_members_count(p->parent->members))
    return rgi_error(RG_ERR_RANK, "%s: remote leader %d; the parent's ranks go from 0 to %d", call,
                     p->remote_leader, rgi_members_count(p->parent->members) - 1);
  world = rgi_members_at(p->parent->members, p->remote_leader);
  if (rgi_members_find(mine->members, world) >= 0)
    return rgi_error(RG_ERR_RANK, "%s: the remote leader is a member of the caller's own group",
                     call);
  rgi_scope_now.parent = p->parent->context;
  RGI_TRY(write_letter(call, mine, p, number, &own));
  int error = exchange(call, &own, world, p->tag, theirs);
  if (error == RG_SUCCESS || error == RG_ERR_MISMATCH) { /* else MPI may still read it */
    if (!error)
      error = compare(call, own.ints, theirs->ints);
    free(own.ints);
  }
  return error;
}

static int read_letter(const char *call, rg_group mine, const letter *l, uint64_t number,
                       rgi_visitor *v) {
  v->number[0] = number;
  v->number[1] = number_of(l);
  v->apart = mine->apart || l->ints[APART];
  v->high = l->ints[HIGH];
  v->n = l->ints[LEAVING];
  v->leaving = l->ints + HEAD;
  RGI_TRY(rgi_members_unpack(call, l->ints + HEAD + v->n, &v->members));
  for (int i = 0; i < rgi_members_count(v->members); i++)
    if (rgi_members_find(mine->members, rgi_members_at(v->members, i)) >= 0)
      return rgi_error(RG_ERR_MISMATCH, "%s: rank %d of the world is in both groups", call,
                       rgi_members_at(v->members, i));
  return RG_SUCCESS;
}

/* The first member's letter, or its error, goes to its group. */
static int tell_group(const char *call, rg_group mine, int tag, int error, letter *theirs) {
  int head[HEAD] = {0};
  letter told = *theirs;
  if (mine->me == 0 && error)
    told = (letter){HEAD, head};
  if (mine->me == 0)
    told.ints[ERROR] = error;
  RGI_TRY(rgi_spread(mine, tag, call, &told.count, &told.ints));
  if (mine->me == 0)
    return error;
  *theirs = told;
  return told.ints[ERROR] ? explain(call, told.ints[ERROR]) : RG_SUCCESS;
}

int rgi_meet(const char *call, rg_group mine, const rgi_proposal *p, rgi_visitor *v) {
  letter theirs = {0};
  uint64_t number;
  RGI_TRY(rgi_forming_begin(mine, p->tag, &number));
  int error = mine->me == 0 ? lead(call, mine, p, number, &theirs) : RG_SUCCESS;
  error = tell_group(call, mine, p->tag, error, &theirs);
  *v = (rgi_visitor){.ints = theirs.ints};
  if (!error)
    error = read_letter(call, mine, &theirs, number, v);
  if (error)
    rgi_meeting_end(v);
  return rgi_forming_result(number, error);
}

void rgi_meeting_end(rgi_visitor *v) {
  rgi_members_drop(v->members);
  free(v->ints);
  *v = (rgi_visitor){0};
}
