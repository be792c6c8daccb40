/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Tree broadcast of small blocks inside a group, along a binomial tree of messages. For the
 * creation of groups, which must not need the group's collectives. */
#ifndef RGI_GROUP_TREE_H
#define RGI_GROUP_TREE_H

#include <regroup/group.h>
#include <stdint.h>
#include <string.h>

#include "message/message_list.h"

/* Sends member 0's block of *count ints to all members. Member 0 passes its block in *ints; the
 * other members get memory, which they free. */
int rgi_group_tree_broadcast(rg_group g, int tag, const char *call, int *count, int **ints);

/* Waits for a message of any number of ints, which are returned in memory that the
 * caller frees. source: a world rank. */
int rgi_group_tree_receive(uint64_t context, int source, int tag, const char *call, int *count,
                           int **ints);

/* Waits for one of n messages, the first that comes, without taking memory: its first `room` ints
 * are in ints[]. *count: how many it has; *source: its sender. */
int rgi_group_tree_receive_into(const rgi_message_envelope wanted[], int n, const char *call,
                                int room, int ints[], int *source, int *count);

/* A number of 64 bits takes two of the ints. */
static inline void rgi_group_tree_put_uint64(int ints[2], uint64_t number) {
  memcpy(ints, &number, sizeof number);
}

static inline uint64_t rgi_group_tree_get_uint64(const int ints[2]) {
  uint64_t number;
  memcpy(&number, ints, sizeof number);
  return number;
}

#endif
