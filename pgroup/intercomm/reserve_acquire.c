/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Acquiring processes out of the reserve, and growing a group by them. Member 0 asks the
 * directory for processes, sends each of them the message, and broadcasts the ranks, or the
 * error, to the other members. */

#include "base/error.h"
#include "base/spare.h"
#include "formation/group.h"
#include "intercomm/inter_members.h"
#include "intercomm/reserve.h"
#include "intercomm/reserve_directory.h"
#include "noded/client/guard_client.h"
#include "runtime/runtime.h"

int rgi_reserve_substitute(const char *call, const rgi_members *before, const rgi_members *members,
                           const rgi_members *acquired, rgi_members **all) {
  int n = rgi_members_count(before), next = 0, *ranks = rgi_spare_alloc((size_t)n * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", call, n);
  for (int i = 0; i < n; i++) {
    ranks[i] = rgi_members_at(before, i);
    if (rgi_members_find(members, ranks[i]) < 0)
      ranks[i] = rgi_members_at(acquired, next++);
  }
  int error = rgi_members_list(call, n, ranks, all);
  rgi_spare_free(ranks);
  return error;
}

/* As ints. */
typedef struct {
  int count, *ints;
} packed_message;

static int pack_message(const char *call, rg_group g, const rgi_reserve_request *request,
                        rgi_members *acquired, packed_message *packed) {
  rgi_reserve_message message = {.kind = request->kind,
                                 .tag = g->tag,
                                 .diverged = request->diverged,
                                 .number = request->number,
                                 .callers = g->members,
                                 .acquired = acquired};
  if (request->kind == RGI_RESERVE_REPLACE)
    RGI_TRY(rgi_reserve_substitute(call, request->before, g->members, acquired, &message.all));
  int error = rgi_reserve_message_pack(call, &message, &packed->count, &packed->ints);
  rgi_members_drop(message.all);
  return error;
}

/* A process that cannot be told goes back into the reserve. One that has died is counted as
 * told: the calls of the new group report its death. */
static int notify_processes(const char *call, const rgi_members *acquired,
                            const packed_message *message) {
  int error = RG_SUCCESS;
  for (int i = 0; i < rgi_members_count(acquired); i++) {
    int rank = rgi_members_at(acquired, i);
    int one =
        error ? error : rgi_reserve_directory_notify(call, rank, message->ints, message->count);
    if (one && one != RG_ERR_PROC_FAILED) {
      rgi_reserve_directory_release(call, rank);
      error = one;
    }
  }
  return error;
}

static int find_processes(const char *call, const rgi_reserve_request *request,
                          rgi_members **acquired) {
  if (request->n < 1)
    return rgi_error(RG_ERR_ARG, "%s: %d processes; at least 1 is to be acquired", call,
                     request->n);
  int room =
      request->n < rgi_runtime.size ? request->n : rgi_runtime.size; /* more cannot be acquired */
  rgi_reserve_table_wish wish = {.n = request->n,
                                 .acquirer = rgi_runtime.rank,
                                 .number = request->number,
                                 .ranks = rgi_spare_alloc((size_t)room * sizeof *wish.ranks)};
  if (!wish.ranks)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call, room);
  int error = rgi_reserve_directory_acquire(call, &wish);
  if (!error && wish.there < wish.n)
    error = rgi_error(RG_ERR_RESERVE,
                      "%s: %d processes are wanted and %d are in reserve: start the job with more "
                      "processes and a larger RG_RESERVE",
                      call, wish.n, wish.there);
  else if (!error)
    error = rgi_members_list(call, wish.n, wish.ranks, acquired);
  rgi_spare_free(wish.ranks);
  return error;
}

/* Member 0. */
static int acquire_and_notify(const char *call, rg_group g, const rgi_reserve_request *request,
                              rgi_members **acquired) {
  packed_message message = {0};
  RGI_TRY(find_processes(call, request, acquired));
  int error = pack_message(call, g, request, *acquired, &message);
  for (int i = 0; i < rgi_members_count(*acquired) && error; i++)
    rgi_reserve_directory_release(call, rgi_members_at(*acquired, i));
  if (!error)
    error = notify_processes(call, *acquired, &message);
  rgi_spare_free(message.ints);
  return error;
}

int rgi_reserve_acquire(const char *call, rg_group g, const rgi_reserve_request *request,
                        rgi_members **acquired) {
  rgi_members *found = NULL;
  int error = g->me == 0 ? acquire_and_notify(call, g, request, &found) : RG_SUCCESS;
  RGI_TRY(rgi_inter_members_share(call, g, error, &found));
  *acquired = found;
  return RG_SUCCESS;
}

/* The operation has a number: a member that gets an error revokes it, and with it the group that
 * other members may have formed. */
static int grow_group(const char *call, rg_group g, int n, uint64_t number, rg_group *grown) {
  const uint64_t creation_ids[RGI_CREATION_IDS] = {number};
  const rgi_reserve_request request = {.kind = RGI_RESERVE_GROW,
                                       .n = n,
                                       .number = number,
                                       .diverged = g->diverged || rgi_guard_exists()};
  rgi_members *acquired, *all;
  RGI_TRY(rgi_reserve_acquire(call, g, &request, &acquired));
  int error = rgi_members_concat(call, g->members, acquired, &all);
  rgi_members_drop(acquired);
  return error ? error
               : rgi_group_creation_end(creation_ids, 0, request.diverged, all, g->tag, grown);
}

int rg_group_grow(rg_group g, int n, rg_group *grown) {
  uint64_t number;
  RGI_REQUIRE(grown);
  RGI_TRY(rgi_group_check(__func__, g));
  RGI_TRY(rgi_reserve_need(__func__));
  RGI_TRY(rgi_group_check_member(__func__, g)); /* the members' deaths end the waits */
  number = rgi_group_creation_begin(g);
  return rgi_group_creation_result(number, grow_group(__func__, g, n, number, grown));
}
