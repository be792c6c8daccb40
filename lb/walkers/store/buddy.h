/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The buddy: a process of another node that gets copies of this process's walkers while they run.
 */
#ifndef RGI_STORE_BUDDY_H
#define RGI_STORE_BUDDY_H

#include "walkers/store/record_index.h"
#include "walkers/team/wire.h"

typedef struct {
  rgi_wire *wire;
  rgi_record_index *index; /* of this node's store */
  int rank;                /* -1: none */
  int open;                /* copies not answered yet */
  int64_t sent;            /* copies so far */
  double last;             /* when the last one was sent */
  rgi_record_pack mine;    /* records of children, for the next one */
} rgi_buddy;

int rgi_buddy_open(rgi_buddy *buddy);
void rgi_buddy_close(rgi_buddy *buddy);
/* A unit has made a walker: its record goes with the next copy of its parent. */
int rgi_buddy_add(rgi_buddy *buddy, uint64_t record);
/* A walker of this process has a new version: sends a copy, unless it is too early. */
int rgi_buddy_send(rgi_buddy *buddy, uint64_t record, int ended);
/* Takes in the copies and answers that have come, and answers the copies. */
int rgi_buddy_serve(rgi_buddy *buddy);
/* Whether a copy that was sent has not been answered. */
int rgi_buddy_waits(const rgi_buddy *buddy);

#endif
