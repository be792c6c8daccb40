/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * An error on one member must end the walker on all. So each member makes a word of its error, and
 * all take the largest by an allreduce. The member that it names broadcasts the text.
 *
 * A function that all members call may leave some of them waiting for one that has failed. So a
 * member with an error revokes the application's group first. The others' waits end with
 * RG_ERR_REVOKED, from which the application may make an error of its own: such an error follows
 * from the first one and must not hide it. So the words are those of base/error_report.h in three
 * ranges: errors that came before the group was revoked, errors that came afterwards, and
 * RG_ERR_REVOKED. Of each range the lowest rank counts. */
#include <regroup/collectives.h>

#include "base/error.h"
#include "base/error_report.h"
#include "collectives/calls/group_error.h"
#include "formation/group.h"
#include "noded/client/overlay_client.h"
#include "walkers/team/membership.h"
#include "walkers/team/team.h"
#include "walkers/work/work.h"

/* The upper half of a word is this minus the rank, which is less than 2^29. */
enum { FIRST = INT32_MAX, FOLLOWS = (1 << 30) - 1, REVOKED = (1 << 29) - 1 };

int rgi_work_error_revoke(const rgi_work *work, int error) {
  const rgi_team *team = work->team;
  if (!error || team->n == 1 ||
      rgi_overlay_revoke_group(team->group->context, team->node != 0) == RG_SUCCESS)
    return error;
  return rgi_error(RG_ERR_LIMIT, "walker %lld: too many groups are revoked and not freed",
                   (long long)work->walker.id);
}

int64_t rgi_work_error_word(const rgi_work *work, int error) {
  int range = !work->follows ? FIRST : error == RG_ERR_REVOKED ? REVOKED : FOLLOWS;
  return rgi_error_report_word(error, work->team->me + (FIRST - range));
}

/* A member that knows of a death does not agree about the error that comes from it. Members on
 * other nodes, which may not know yet, wait until they do. */
int rgi_work_error_agree(const rgi_work *work, int error, int64_t words[], int n) {
  if (error)
    RGI_TRY(rgi_membership_check(work->team->members, work->walker.id));
  return rg_allreduce(work->team->own, MPI_IN_PLACE, words, n, MPI_INT64_T, MPI_MAX);
}

int rgi_work_error_code(int64_t word) {
  return rgi_error_report_code(word);
}

static int member_of(int64_t word) {
  int rank = rgi_error_report_rank(word);
  return rank >= FIRST - REVOKED   ? rank - (FIRST - REVOKED)
         : rank >= FIRST - FOLLOWS ? rank - (FIRST - FOLLOWS)
                                   : rank;
}

int rgi_work_error_rank(const rgi_work *work, int64_t word) {
  return work->team->ranks[member_of(word)];
}

int rgi_work_error_spread(const rgi_work *work, int64_t word, char text[RGI_OUTCOME_TEXT]) {
  return rgi_group_error_text(work->team->own, member_of(word), text);
}
