/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The confirmation of a replacement: acquired processes form the new group only after the
 * survivors have agreed that all of them have it. */
#ifndef RGI_RESERVE_CONFIRM_H
#define RGI_RESERVE_CONFIRM_H

#include <regroup/group.h>
#include <stdint.h>

#include "formation/members.h"

/* Every member of g calls: all of them have the new group. Tells the acquired. */
int rgi_reserve_confirm(const char *call, rg_group g, uint64_t number, const rgi_members *acquired);

/* An acquired process waits for it. RG_ERR_REVOKED, with no text: a member of the callers
 * has died, and the replacement has failed. */
int rgi_reserve_confirm_await(const char *call, const rgi_members *callers, uint64_t number);

#endif
