/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The letter to processes that were drawn, as ints: this head, the ranks of all
 * that were drawn, the packed members of the group that drew them, and to those who come
 * for others the packed members of the group that results. */
#ifndef RGI_RESERVE_MESSAGE_H
#define RGI_RESERVE_MESSAGE_H

#include <stdint.h>

/* NUMBER: of the operation, two ints. */
enum {
  RGI_RESERVE_MESSAGE_KIND,
  RGI_RESERVE_MESSAGE_TAG,
  RGI_RESERVE_MESSAGE_DIVERGED,
  RGI_RESERVE_MESSAGE_ACQUIRED,
  RGI_RESERVE_MESSAGE_NUMBER,
  RGI_RESERVE_MESSAGE_HEAD = RGI_RESERVE_MESSAGE_NUMBER + 2
};

/* Those who come for others wait for the word that all have the new group, from one of so
 * many of the members that drew them. */
#define RGI_RESERVE_MESSAGE_CONFIRMERS 4

/* What that word is sent under. */
uint64_t rgi_reserve_message_confirm_context(uint64_t number);

#endif
