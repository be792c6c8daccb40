/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Drawing processes out of the reserve, and growing a group by them. */
#include <stdlib.h>

#include "base/error.h"
#include "formation/context.h"
#include "formation/group.h"
#include "formation/group_tree.h"
#include "intercomm/reserve.h"
#include "intercomm/reserve_directory.h"
#include "intercomm/reserve_message.h"
#include "message/message.h"
#include "noded/guard_client.h"
#include "runtime/runtime.h"
#include "shm/failure.h"

/* What member 0 tells the others: {error, how many sleep or were acquired, ranks}. */
enum { ERROR, THERE, RANKS };

int rgi_reserve_substitute(const char *call, const rgi_members *before, const rgi_members *g,
                           const rgi_members *acquired, rgi_members **all) {
  int n = rgi_members_count(before), next = 0, *ranks = malloc((size_t)n * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", call, n);
  for (int i = 0; i < n; i++) {
    ranks[i] = rgi_members_at(before, i);
    if (rgi_members_find(g, ranks[i]) < 0)
      ranks[i] = rgi_members_at(acquired, next++);
  }
  int error = rgi_members_list(call, n, ranks, all);
  free(ranks);
  return error;
}

/* The message to those that were acquired: reserve_message.h. */
static int write_message(const char *call, rg_group g, const rgi_reserve_request *d,
                         const rgi_members *acquired, int *count, int **message) {
  rgi_members *all = NULL;
  if (d->kind == RGI_RESERVE_REPLACE)
    RGI_TRY(rgi_reserve_substitute(call, d->before, g->members, acquired, &all));
  int callers = rgi_members_packed(g->members);
  *count = RGI_RESERVE_MESSAGE_HEAD + d->n + callers + (all ? rgi_members_packed(all) : 0);
  int *l = calloc((size_t)*count, sizeof *l);
  if (l) {
    l[RGI_RESERVE_MESSAGE_KIND] = (int)d->kind;
    l[RGI_RESERVE_MESSAGE_TAG] = g->tag;
    l[RGI_RESERVE_MESSAGE_DIVERGED] = d->diverged;
    l[RGI_RESERVE_MESSAGE_ACQUIRED] = d->n;
    rgi_group_tree_put_uint64(l + RGI_RESERVE_MESSAGE_NUMBER, d->number);
    for (int i = 0; i < d->n; i++)
      l[RGI_RESERVE_MESSAGE_HEAD + i] = rgi_members_at(acquired, i);
    rgi_members_pack(g->members, l + RGI_RESERVE_MESSAGE_HEAD + d->n);
    if (all)
      rgi_members_pack(all, l + RGI_RESERVE_MESSAGE_HEAD + d->n + callers);
  }
  rgi_members_drop(all);
  *message = l;
  return l ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call, d->n);
}

/* Those that cannot be told go back. Who has died meanwhile is missed by those who need
 * it. */
static int notify_processes(const char *call, int n, const int ranks[], const int message[],
                            int count) {
  int error = RG_SUCCESS;
  for (int i = 0; i < n; i++) {
    int one = error ? error : rgi_reserve_directory_notify(call, ranks[i], message, count);
    if (one && one != RG_ERR_PROC_FAILED) {
      rgi_reserve_directory_release(call, ranks[i]);
      error = one;
    }
  }
  return error;
}

static int acquire_and_notify(const char *call, rg_group g, const rgi_reserve_request *d,
                              int told[]) {
  int count = 0, *message = NULL, n = d->n;
  rgi_members *acquired;
  if (n < 1)
    return rgi_error(RG_ERR_ARG, "%s: %d processes; at least 1 is to be acquired", call, n);
  RGI_TRY(rgi_reserve_directory_acquire(call, n, d->number, told + RANKS, &told[THERE]));
  if (told[THERE] < n)
    return RG_ERR_RESERVE; /* explained on every member */
  int error = rgi_members_list(call, n, told + RANKS, &acquired);
  if (!error) {
    error = write_message(call, g, d, acquired, &count, &message);
    rgi_members_drop(acquired);
  }
  for (int i = 0; i < n && error; i++)
    rgi_reserve_directory_release(call, told[RANKS + i]);
  if (!error)
    error = notify_processes(call, n, told + RANKS, message, count);
  free(message);
  return error;
}

static int explain_error(const char *call, rg_group g, int n, const int told[]) {
  if (told[ERROR] == RG_ERR_RESERVE)
    return rgi_error(RG_ERR_RESERVE,
                     "%s: %d processes are wanted and %d are in reserve: start the job with more "
                     "processes and a larger RG_RESERVE",
                     call, n, told[THERE]);
  return g->me == 0 ? told[ERROR]
                    : rgi_error_from(told[ERROR], call, rgi_members_at(g->members, 0));
}

int rgi_reserve_acquire(const char *call, rg_group g, const rgi_reserve_request *d,
                        rgi_members **acquired) {
  int n = d->n;
  int room = n > 0 && n < rgi_runtime.size ? n : rgi_runtime.size; /* more cannot be acquired */
  int count = 0, *told = malloc(((size_t)RANKS + (size_t)room) * sizeof *told);
  if (!told)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call, room);
  if (g->me == 0) {
    told[THERE] = 0;
    told[ERROR] = acquire_and_notify(call, g, d, told);
    count = RANKS + (told[ERROR] ? 0 : n);
  } else {
    free(told);
  }
  int error = rgi_group_tree_broadcast(g, g->tag, call, &count, &told);
  if (error) {
    if (g->me == 0)
      free(told);
    return error;
  }
  error = told[ERROR] ? explain_error(call, g, n, told)
                      : rgi_members_list(call, count - RANKS, told + RANKS, acquired);
  free(told);
  return error;
}

uint64_t rgi_reserve_message_confirm_context(uint64_t number) {
  return rgi_context_mix(number + 0x676f2121u);
}

int rgi_reserve_confirm(const char *call, rg_group g, uint64_t number,
                        const rgi_members *acquired) {
  for (int i = 0; i < rgi_members_count(acquired) && g->me < RGI_RESERVE_MESSAGE_CONFIRMERS; i++) {
    int error = rgi_message_deliver(rgi_reserve_message_confirm_context(number),
                                    rgi_members_at(acquired, i), 0, NULL, 0, call);
    if (error && error != RG_ERR_PROC_FAILED) /* who has died is missed by those who need it */
      return error;
  }
  return RG_SUCCESS;
}

/* A number of its own: whoever gets an error ends what the others may have formed. */
static int grow_group(const char *call, rg_group g, int n, uint64_t number, rg_group *grown) {
  const uint64_t creation_ids[RGI_CREATION_IDS] = {number};
  const rgi_reserve_request d = {.kind = RGI_RESERVE_GROW,
                                 .n = n,
                                 .number = number,
                                 .diverged = g->diverged || rgi_guard_exists()};
  rgi_members *acquired, *all;
  RGI_TRY(rgi_reserve_acquire(call, g, &d, &acquired));
  int error = rgi_members_concat(call, g->members, acquired, &all);
  rgi_members_drop(acquired);
  return error ? error : rgi_group_creation_end(creation_ids, 0, d.diverged, all, g->tag, grown);
}

int rg_group_grow(rg_group g, int n, rg_group *grown) {
  uint64_t number;
  RGI_REQUIRE(grown);
  RGI_TRY(rgi_group_check(__func__, g));
  RGI_TRY(rgi_reserve_need(__func__));
  RGI_TRY(rgi_group_check_member(__func__, g)); /* whose deaths end the waits */
  RGI_TRY(rgi_group_creation_begin(g, g->tag, &number));
  return rgi_group_creation_result(number, grow_group(__func__, g, n, number, grown));
}
