/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The message to processes in reserve that have been acquired: what for, by whom, and
 * together with whom. */
#ifndef RGI_RESERVE_MESSAGE_H
#define RGI_RESERVE_MESSAGE_H

#include <stdint.h>

#include "formation/members.h"

typedef enum { RGI_RESERVE_GROW = 1, RGI_RESERVE_SPAWN, RGI_RESERVE_REPLACE } rgi_reserve_purpose;

typedef struct {
  rgi_reserve_purpose kind;
  int tag;               /* of the callers' group */
  int diverged;          /* of the group that results */
  uint64_t number;       /* of the operation (rgi_group_creation_begin); 0: none */
  rgi_members *callers;  /* the members of the group that acquires */
  rgi_members *acquired; /* all processes acquired together */
  rgi_members *all;      /* of the group that results; NULL for spawning */
} rgi_reserve_message;

/* A packed message is longer than this. */
#define RGI_RESERVE_MESSAGE_LEAST 6

/* Writes the message into *ints, in memory to be freed: *count of them. message->all counts only
 * for replacing: the members of a group that grows follow from the callers and the acquired. */
int rgi_reserve_message_pack(const char *call, const rgi_reserve_message *message, int *count,
                             int **ints);

/* Reads it. On failure, too, *message is to be dropped. */
int rgi_reserve_message_unpack(const char *call, const int ints[], rgi_reserve_message *message);
void rgi_reserve_message_drop(rgi_reserve_message *message);

/* The operation's number in a packed message. */
uint64_t rgi_reserve_message_number(const int ints[]);

#endif
