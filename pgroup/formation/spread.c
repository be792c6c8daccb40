/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "formation/spread.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formation/context.h"
#include "formation/group.h"
#include "formation/tree.h"
#include "message/message.h"

/* Forming has a context of its own beside the group's. */
static uint64_t context_of(rg_group g) {
  return rgi_mix(g->context + 0x666f726dU);
}

static int send(rg_group g, int to, int tag, const char *call, const int ints[], int count) {
  return rgi_message_deliver(context_of(g), rgi_members_at(g->members, to), tag, ints,
                             (size_t)count * sizeof *ints, call);
}

int rgi_receive_ints(uint64_t context, int source, int tag, const char *call, int *count,
                     int **ints) {
  int from, its_tag;
  size_t bytes;
  rgi_request r;
  RGI_TRY(rgi_message_await(context, source, tag, call, &from, &its_tag, &bytes));
  int *data = malloc(bytes ? bytes : 1);
  if (!data)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for a message of %zu bytes", call, bytes);
  int error = rgi_message_receive(context, source, tag, data, bytes, &r);
  if (!error)
    error = rgi_message_wait(&r, call);
  if (error)
    return error; /* data may still be written to */
  *count = (int)(bytes / sizeof *data);
  *ints = data;
  return RG_SUCCESS;
}

static int receive(rg_group g, int from, int tag, const char *call, int *count, int **ints) {
  return rgi_receive_ints(context_of(g), rgi_members_at(g->members, from), tag, call, count, ints);
}

int rgi_spread(rg_group g, int tag, const char *call, int *count, int **ints) {
  int child[RGI_TREE_CHILDREN], parent = rgi_tree_parent(g->me);
  int children = rgi_tree_children(g->me, rgi_members_count(g->members), child);
  if (parent >= 0)
    RGI_TRY(receive(g, parent, tag, call, count, ints));
  for (int i = children - 1; i >= 0; i--)
    RGI_TRY(send(g, child[i], tag, call, *ints, *count));
  return RG_SUCCESS;
}

/* Receives a child's subtree, which is the ranks child .. child + n/width - 1. */
static int collect_from(rg_group g, int child, int tag, const char *call, int width, int block[],
                        int room) {
  int count, *ints;
  RGI_TRY(receive(g, child, tag, call, &count, &ints));
  int at = (child - g->me) * width;
  int fits = at + count <= room;
  if (fits)
    memcpy(block + at, ints, (size_t)count * sizeof *ints);
  free(ints);
  return fits ? RG_SUCCESS
              : rgi_error(RG_ERR_MISMATCH, "%s: rank %d of the group sent %d ints too many", call,
                          child, at + count - room);
}

int rgi_collect(rg_group g, int tag, const char *call, int width, const int mine[], int all[]) {
  int child[RGI_TREE_CHILDREN], size = rgi_members_count(g->members);
  int children = rgi_tree_children(g->me, size, child), parent = rgi_tree_parent(g->me);
  int span = g->me ? g->me & -g->me : size; /* how many ranks my subtree may hold */
  if (span > size - g->me)
    span = size - g->me;
  int *block = parent < 0 ? all : malloc((size_t)span * (size_t)width * sizeof *block);
  if (!block)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", call, span);
  memcpy(block, mine, (size_t)width * sizeof *mine);
  int error = RG_SUCCESS;
  for (int i = 0; i < children && !error; i++)
    error = collect_from(g, child[i], tag, call, width, block, span * width);
  if (parent >= 0) {
    if (!error)
      error = send(g, parent, tag, call, block, span * width);
    free(block);
  }
  return error;
}
