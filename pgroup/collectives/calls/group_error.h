/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The error of one member as that of all, over a group (base/error_report.h). */
#ifndef RGI_GROUP_ERROR_H
#define RGI_GROUP_ERROR_H

#include <regroup/group.h>

#include "base/error_report.h"

/* Every member of g. error: the caller's own, or RG_SUCCESS. Returns the error of the lowest rank
 * that has one, on every member, with a text that names the rank. Cost: an allreduce of 8 bytes;
 * after an error a broadcast of the text. */
int rgi_group_error_share(rg_group g, const char *call, int error);

/* As rgi_group_error_share where all members know the word already. word 0: RG_SUCCESS, at no cost.
 */
int rgi_group_error_tell(rg_group g, const char *call, int64_t word, int error);

/* The text of one member's error, on all: its present rg_error_detail. No exchange of errors. */
int rgi_group_error_text(rg_group g, int rank, char text[RGI_ERROR_TEXT]);

/* The caller's word. */
int64_t rgi_group_error_word(rg_group g, int error);

#endif
