/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A meeting: which walkers meet, and its number among those of each of them. */
#ifndef RGI_TEAM_MEETING_H
#define RGI_TEAM_MEETING_H

#include <regroup/balance.h>

typedef struct {
  int64_t number;
  int64_t count; /* walkers that meet; 0: no meeting */
  int64_t *ids;  /* of all of them, ascending */
  int64_t room;
} rgi_meeting;

/* Takes what walker `id` has said, whose last meeting had the number met - 1. No meeting follows if
 * it said so, or said that number again. RG_ERR_ARG: it is no meeting that can take place. */
int rgi_meeting_take(rgi_meeting *meeting, const rg_meeting *said, int64_t id, int64_t met);
/* Why walker `id` cannot meet: `missing` is not there, but in the meeting `elsewhere`, or one of
 * these. */
enum { RGI_MEETING_NONE = -1, RGI_MEETING_UNKNOWN = -2 /* in none of those that are known here */ };
void rgi_meeting_say(char *text, size_t bytes, int64_t id, int64_t number, int64_t missing,
                     int64_t elsewhere);
void rgi_meeting_free(rgi_meeting *meeting);

#endif
