/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A walker ends: well, or by an error. All members call; the group has no walker afterwards. */
#ifndef RGI_WALKERS_WORK_END_H
#define RGI_WALKERS_WORK_END_H

#include "walkers/work.h"

/* No unit is left. */
int rgi_work_finish(rgi_work *work);
/* All members have the same error. rank: of the process that found it; text: NULL: this member's.
 */
int rgi_work_fail(rgi_work *work, int error, int rank, const char *text);
/* The error of the member that the word (work_error.h) names. */
int rgi_work_fail_by_word(rgi_work *work, int64_t word);
/* After functions of the application other than unit: if a member has an error, the walker fails.
 * *failed: whether it did. */
int rgi_work_agree(rgi_work *work, int error, int *failed);

/* A walker without a group ends: with an error, or as far as it has come. Local. Its memory is
 * freed. */
int rgi_work_end_entry(rgi_work *work, rgi_queue_entry *e, int error, const char *text);
/* A walker that is set aside ends, since another one does not come: with an error, or in a run that
 * ends early (text "") without. */
int rgi_work_end_aside(rgi_work *work, rgi_queue_entry *e, const char *text);
/* A walker that waits fails: all groups are idle, and the policy of this name starts it on none of
 * them. Local. Its memory is freed. */
int rgi_work_fail_waiting(rgi_work *work, const rgi_queue_entry *entry, const char *policy);

#endif
