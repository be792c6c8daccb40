/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Acquiring processes out of the reserve, and growing a group by them. Member 0 asks the
 * directory for processes, sends each of them the message, and broadcasts the ranks, or the
 * error, to the other members. */
#include "intercomm/reserve_acquire.h"

#include <stdlib.h>

#include "base/error.h"
#include "formation/group.h"
#include "formation/group_tree.h"
#include "intercomm/reserve.h"
#include "intercomm/reserve_directory.h"
#include "noded/guard_client.h"
#include "runtime/runtime.h"

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

static int write_message(const char *call, rg_group g, const rgi_reserve_request *d,
                         rgi_members *acquired, int *count, int **ints) {
  rgi_reserve_message m = {.kind = d->kind,
                           .tag = g->tag,
                           .diverged = d->diverged,
                           .number = d->number,
                           .callers = g->members,
                           .acquired = acquired};
  if (d->kind == RGI_RESERVE_REPLACE)
    RGI_TRY(rgi_reserve_substitute(call, d->before, g->members, acquired, &m.all));
  int error = rgi_reserve_message_pack(call, &m, count, ints);
  rgi_members_drop(m.all);
  return error;
}

/* A process that cannot be told goes back into the reserve. One that has died is counted as
 * told: the calls of the new group report its death. */
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
                              int result[]) {
  int count = 0, *message = NULL, n = d->n;
  rgi_members *acquired;
  if (n < 1)
    return rgi_error(RG_ERR_ARG, "%s: %d processes; at least 1 is to be acquired", call, n);
  RGI_TRY(rgi_reserve_directory_acquire(call, n, d->number, result + RANKS, &result[THERE]));
  if (result[THERE] < n)
    return RG_ERR_RESERVE; /* explained on every member */
  int error = rgi_members_list(call, n, result + RANKS, &acquired);
  if (!error) {
    error = write_message(call, g, d, acquired, &count, &message);
    rgi_members_drop(acquired);
  }
  for (int i = 0; i < n && error; i++)
    rgi_reserve_directory_release(call, result[RANKS + i]);
  if (!error)
    error = notify_processes(call, n, result + RANKS, message, count);
  free(message);
  return error;
}

static int explain_error(const char *call, rg_group g, int n, const int result[]) {
  if (result[ERROR] == RG_ERR_RESERVE)
    return rgi_error(RG_ERR_RESERVE,
                     "%s: %d processes are wanted and %d are in reserve: start the job with more "
                     "processes and a larger RG_RESERVE",
                     call, n, result[THERE]);
  return g->me == 0 ? result[ERROR]
                    : rgi_error_from(result[ERROR], call, rgi_members_at(g->members, 0));
}

int rgi_reserve_acquire(const char *call, rg_group g, const rgi_reserve_request *d,
                        rgi_members **acquired) {
  int n = d->n;
  int room = n > 0 && n < rgi_runtime.size ? n : rgi_runtime.size; /* more cannot be acquired */
  int count = 0, *result = malloc(((size_t)RANKS + (size_t)room) * sizeof *result);
  if (!result)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call, room);
  if (g->me == 0) {
    result[THERE] = 0;
    result[ERROR] = acquire_and_notify(call, g, d, result);
    count = RANKS + (result[ERROR] ? 0 : n);
  } else {
    free(result);
  }
  int error = rgi_group_tree_broadcast(g, g->tag, call, &count, &result);
  if (error) {
    if (g->me == 0)
      free(result);
    return error;
  }
  error = result[ERROR] ? explain_error(call, g, n, result)
                        : rgi_members_list(call, count - RANKS, result + RANKS, acquired);
  free(result);
  return error;
}

/* The operation has a number: a member that gets an error revokes it, and with it the group that
 * other members may have formed. */
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
  RGI_TRY(rgi_group_check_member(__func__, g)); /* the members' deaths end the waits */
  RGI_TRY(rgi_group_creation_begin(g, g->tag, &number));
  return rgi_group_creation_result(number, grow_group(__func__, g, n, number, grown));
}
