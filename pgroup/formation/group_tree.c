/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Blocks of ints along a binomial tree (binomial.h), in a context apart from the group's own
 * messages. */
#include "formation/group_tree.h"

#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "base/spare.h"
#include "formation/binomial.h"
#include "formation/group.h"
#include "message/message.h"

/* The context of the creation of groups, beside the group's own. */
static uint64_t context_of(rg_group g) {
  return rgi_mix_bits(g->context + 0x666f726dU);
}

/* A call along the tree of a group. */
typedef struct {
  rg_group g;
  int tag;
  const char *call;
} tree_call;

static int send_ints(const tree_call *tree, int to, const int ints[], int count) {
  return rgi_message_deliver(&(rgi_message_envelope){.context = context_of(tree->g),
                                                     .peer = rgi_members_at(tree->g->members, to),
                                                     .tag = tree->tag,
                                                     .bytes = (size_t)count * sizeof *ints},
                             ints, tree->call);
}

int rgi_group_tree_receive_into(const rgi_message_envelope wanted[], int n, const char *call,
                                int room, int ints[], int *source, int *count) {
  rgi_message_envelope found;
  rgi_message message;
  RGI_TRY(rgi_message_await_any(wanted, n, call, &found));
  *source = found.peer;
  *count = (int)(found.bytes / sizeof *ints);
  found.bytes = (size_t)room * sizeof *ints;
  RGI_TRY(rgi_message_receive(&found, ints, &message));
  int error = rgi_message_wait(&message, call);
  return error == RG_ERR_TRUNCATE ? RG_SUCCESS : error;
}

int rgi_group_tree_receive(uint64_t context, int from, int tag, const char *call, int *count,
                           int **ints) {
  rgi_message_envelope wanted = {.context = context, .peer = from, .tag = tag}, found;
  rgi_message message;
  RGI_TRY(rgi_message_await(&wanted, call, &found, NULL));
  size_t bytes = found.bytes;
  int *data = rgi_spare_alloc(bytes ? bytes : 1);
  if (!data)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for a message of %zu bytes", call, bytes);
  int error = rgi_message_receive(&found, data, &message);
  if (!error)
    error = rgi_message_wait(&message, call);
  if (error)
    return error; /* not freed: the message may still be written to it */
  *count = (int)(bytes / sizeof *data);
  *ints = data;
  return RG_SUCCESS;
}

static int receive_ints(const tree_call *tree, int from, int *count, int **ints) {
  return rgi_group_tree_receive(context_of(tree->g), rgi_members_at(tree->g->members, from),
                                tree->tag, tree->call, count, ints);
}

int rgi_group_tree_broadcast(rg_group g, int tag, const char *call, int *count, int **ints) {
  const tree_call t = {g, tag, call};
  int child[RGI_BINOMIAL_CHILDREN], parent = rgi_binomial_parent(g->me);
  int children = rgi_binomial_children(g->me, rgi_members_count(g->members), child);
  if (parent >= 0)
    RGI_TRY(receive_ints(&t, parent, count, ints));
  for (int i = children - 1; i >= 0; i--)
    RGI_TRY(send_ints(&t, child[i], *ints, *count));
  return RG_SUCCESS;
}
