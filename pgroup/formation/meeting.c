/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "formation/meeting.h"

#include <stdlib.h>
#include <string.h>

#include "formation/context.h"
#include "formation/spread.h"
#include "runtime/error.h"
#include "runtime/message.h"
#include "runtime/runtime.h"

/* A letter, as ints: the head, the ranks that leave, the packed members. */
enum { KIND, HIGH, ERROR, LEAVING, HEAD };

typedef struct {
  int count, *ints;
} letter;

static int write_letter(const char *call, rg_group mine, const rgi_proposal *p, letter *l) {
  l->count = HEAD + p->n + rgi_members_packed(mine->members);
  l->ints = malloc((size_t)l->count * sizeof *l->ints);
  if (!l->ints)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
  l->ints[KIND] = (int)p->kind;
  l->ints[HIGH] = p->high;
  l->ints[ERROR] = p->error;
  l->ints[LEAVING] = p->n;
  if (p->n)
    memcpy(l->ints + HEAD, p->leaving, (size_t)p->n * sizeof *p->leaving);
  rgi_members_pack(mine->members, l->ints + HEAD + p->n);
  return RG_SUCCESS;
}

/* The first members exchange their letters. */
static int exchange(const char *call, const letter *mine, int remote, int tag, letter *theirs) {
  uint64_t context = rgi_mix(0x6d656574u);
  rgi_request r;
  RGI_TRY(
      rgi_message_send(context, remote, tag, mine->ints, (size_t)mine->count * sizeof(int), &r));
  RGI_TRY(rgi_receive_ints(context, remote, tag, call, &theirs->count, &theirs->ints));
  return rgi_message_wait(&r, call);
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
static int lead(const char *call, rg_group mine, const rgi_proposal *p, letter *theirs) {
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
  RGI_TRY(write_letter(call, mine, p, &own));
  int error = exchange(call, &own, world, p->tag, theirs);
  if (error != RG_ERR_TIMEOUT) { /* MPI may still read it */
    if (!error)
      error = compare(call, own.ints, theirs->ints);
    free(own.ints);
  }
  return error;
}

static int read_letter(const char *call, rg_group mine, const letter *l, rgi_visitor *v) {
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
  int error = mine->me == 0 ? lead(call, mine, p, &theirs) : RG_SUCCESS;
  error = tell_group(call, mine, p->tag, error, &theirs);
  *v = (rgi_visitor){.ints = theirs.ints};
  if (!error)
    error = read_letter(call, mine, &theirs, v);
  if (error)
    rgi_meeting_end(v);
  return error;
}

void rgi_meeting_end(rgi_visitor *v) {
  rgi_members_drop(v->members);
  free(v->ints);
  *v = (rgi_visitor){0};
}
