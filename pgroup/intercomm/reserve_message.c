/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The message as ints: a head of fixed length, the ranks of the acquired processes, the packed
 * members of the group that acquires, and for replacing the packed members of the group that
 * results. */
#include "intercomm/reserve_message.h"

#include "base/error.h"
#include "base/spare.h"
#include "formation/group_tree.h"

/* The head. NUMBER: two ints. */
enum { KIND, TAG, DIVERGED, ACQUIRED, NUMBER, HEAD = NUMBER + 2 };
_Static_assert(HEAD == RGI_RESERVE_MESSAGE_LEAST, "a message is longer than its head");

int rgi_reserve_message_pack(const char *call, const rgi_reserve_message *message, int *count,
                             int **ints) {
  int n = rgi_members_count(message->acquired), callers = rgi_members_packed(message->callers);
  int all = message->kind == RGI_RESERVE_REPLACE ? rgi_members_packed(message->all) : 0;
  *count = HEAD + n + callers + all;
  int *l = *ints = rgi_spare_alloc_zeroed((size_t)*count, sizeof *l);
  if (!l)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call, n);
  l[KIND] = (int)message->kind;
  l[TAG] = message->tag;
  l[DIVERGED] = message->diverged;
  l[ACQUIRED] = n;
  rgi_group_tree_put_uint64(l + NUMBER, message->number);
  for (int i = 0; i < n; i++)
    l[HEAD + i] = rgi_members_at(message->acquired, i);
  rgi_members_pack(message->callers, l + HEAD + n);
  if (all)
    rgi_members_pack(message->all, l + HEAD + n + callers);
  return RG_SUCCESS;
}

int rgi_reserve_message_unpack(const char *call, const int ints[], rgi_reserve_message *message) {
  int n = ints[ACQUIRED];
  const int *packed = ints + HEAD + n;
  *message = (rgi_reserve_message){.kind = (rgi_reserve_purpose)ints[KIND],
                                   .tag = ints[TAG],
                                   .diverged = ints[DIVERGED],
                                   .number = rgi_reserve_message_number(ints)};
  RGI_TRY(rgi_members_unpack(call, packed, &message->callers));
  RGI_TRY(rgi_members_list(call, n, ints + HEAD, &message->acquired));
  if (message->kind == RGI_RESERVE_GROW)
    RGI_TRY(rgi_members_concat(call, message->callers, message->acquired, &message->all));
  if (message->kind == RGI_RESERVE_REPLACE)
    RGI_TRY(rgi_members_unpack(call, packed + rgi_members_packed(message->callers), &message->all));
  return RG_SUCCESS;
}

void rgi_reserve_message_drop(rgi_reserve_message *message) {
  rgi_members_drop(message->callers);
  rgi_members_drop(message->acquired);
  rgi_members_drop(message->all);
}

uint64_t rgi_reserve_message_number(const int ints[]) {
  return rgi_group_tree_get_uint64(ints + NUMBER);
}
