/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * An error of one member that works on a walker, for all. */
#ifndef RGI_WALKERS_WORK_ERROR_H
#define RGI_WALKERS_WORK_ERROR_H

#include "walkers/work.h"

/* After a function that all members call: another member may still wait in it for this one. Returns
 * error. */
int rgi_work_error_revoke(const rgi_work *work, int error);

/* An error and this member's rank as one number, of which the members take the largest; 0 for
 * none. And what such a number says: the code, and the rank in the balancer's group. */
int64_t rgi_work_error_word(const rgi_work *work, int error);
int rgi_work_error_code(int64_t word);
int rgi_work_error_rank(const rgi_work *work, int64_t word);
/* The member that the word names sends its text to all. */
int rgi_work_error_spread(const rgi_work *work, int64_t word, char text[RGI_OUTCOME_TEXT]);

#endif
