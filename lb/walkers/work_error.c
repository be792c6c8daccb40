/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * An error on one member must end the walker on all. So each member makes a word of its error
 * (base/error_report.h), and all take the largest by an allreduce: that of the lowest rank. The
 * member that it names broadcasts the text.
 *
 * A function that all members call may leave some of them waiting for one that has failed. So a
 * member with an error revokes the application's group first. The code of the error that others
 * then get (RG_ERR_REVOKED) is left out of their words, so that any real one is larger. */
#include <regroup/collectives.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/error_report.h"
#include "formation/group.h"
#include "noded/overlay_client.h"
#include "shm/revocation.h"
#include "walkers/work.h"
#include "walkers/work_error.h"

int rgi_work_error_revoke(const rgi_work *work, int error) {
  if (error && work->team->n > 1)
    rgi_overlay_revoke(work->team->group->context);
  return error;
}

int64_t rgi_work_error_word(const rgi_work *work, int error) {
  if (error == RG_ERR_REVOKED && rgi_revocation_has(work->team->group->context))
    return work->team->me + 1;
  return rgi_error_report_word(error, work->team->me);
}

int rgi_work_error_code(int64_t word) {
  return word >> 32 ? rgi_error_report_code(word) : RG_ERR_REVOKED;
}

static int member_of(int64_t word) {
  return word >> 32 ? rgi_error_report_rank(word) : (int)word - 1;
}

int rgi_work_error_rank(const rgi_work *work, int64_t word) {
  return work->team->ranks[member_of(word)];
}

int rgi_work_error_spread(const rgi_work *work, int64_t word, char text[RGI_OUTCOME_TEXT]) {
  int from = member_of(word);
  memset(text, 0, RGI_OUTCOME_TEXT);
  if (work->team->me == from)
    snprintf(text, RGI_OUTCOME_TEXT, "%s", rg_error_detail());
  return rg_bcast(work->team->own, text, RGI_OUTCOME_TEXT, MPI_CHAR, from);
}
