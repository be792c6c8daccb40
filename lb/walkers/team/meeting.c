/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the application says of a meeting is checked and copied: the ids may be in memory that the
 * next callback changes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/spare.h"
#include "walkers/team/meeting.h"

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int check_said(const rg_meeting *said, int64_t id, int64_t met) {
  if (said->count < 1)
    return rgi_error(RG_ERR_ARG, "walker %lld: meeting %lld is with nobody", (long long)id,
                     (long long)said->number);
  if (said->number < 0 || said->number == INT64_MAX)
    return rgi_error(RG_ERR_ARG, "walker %lld: a meeting has the number %lld", (long long)id,
                     (long long)said->number);
  if (said->number + 1 < met)
    return rgi_error(RG_ERR_ARG,
                     "walker %lld: meeting %lld comes after meeting %lld: the numbers of a "
                     "walker's meetings ascend",
                     (long long)id, (long long)said->number, (long long)met - 1);
  return RG_SUCCESS;
}

static int list_ids(rgi_meeting *meeting, const rg_meeting *said, int64_t id) {
  int64_t n = said->count + 1;
  if (n > meeting->room) {
    int64_t *more = realloc(meeting->ids, (size_t)n * sizeof *more);
    if (!more)
      return rgi_error(RG_ERR_NOMEM, "no memory for a meeting of %lld walkers", (long long)n);
    meeting->ids = more;
    meeting->room = n;
  }
  memcpy(meeting->ids, said->with, (size_t)said->count * sizeof *meeting->ids);
  meeting->ids[n - 1] = id;
  qsort(meeting->ids, (size_t)n, sizeof *meeting->ids, ascending);
  for (int64_t i = 1; i < n; i++)
    if (meeting->ids[i] == meeting->ids[i - 1])
      return rgi_error(RG_ERR_ARG, "walker %lld: meeting %lld has walker %lld twice", (long long)id,
                       (long long)said->number, (long long)meeting->ids[i]);
  return RG_SUCCESS;
}

int rgi_meeting_take(rgi_meeting *meeting, const rg_meeting *said, int64_t id, int64_t met) {
  meeting->count = 0;
  if (!said->with)
    return RG_SUCCESS;
  RGI_TRY(check_said(said, id, met));
  if (said->number + 1 == met)
    return RG_SUCCESS;
  RGI_TRY(list_ids(meeting, said, id));
  meeting->number = said->number;
  meeting->count = said->count + 1;
  return RG_SUCCESS;
}

void rgi_meeting_say(char *text, size_t bytes, int64_t id, int64_t number, int64_t missing,
                     int64_t elsewhere) {
  char why[96] = "does not come: it has ended, or there is none";
  if (elsewhere == RGI_MEETING_UNKNOWN)
    snprintf(
        why, sizeof why,
        "does not come: it has ended, there is none, or it waits in a meeting on another node");
  else if (elsewhere >= 0)
    snprintf(why, sizeof why, "waits in meeting %lld: they wait for each other",
             (long long)elsewhere);
  snprintf(text, bytes, "walker %lld waits in meeting %lld for walker %lld, which %s",
           (long long)id, (long long)number, (long long)missing, why);
}

void rgi_meeting_free(rgi_meeting *meeting) {
  rgi_spare_free(meeting->ids);
  *meeting = (rgi_meeting){0};
}
