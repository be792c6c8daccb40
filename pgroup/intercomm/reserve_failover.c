/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Each process has a table of its own. From the beginning a process that leaves tells all others
 * so. After the holder's death, processes that sleep tell one another that they sleep. A
 * process in neither state works. So the table is complete when it is needed, and costs no
 * message before except when a process leaves. A message is empty: its tag is the state. */
#include "intercomm/reserve_failover.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mix.h"
#include "intercomm/reserve_table.h"
#include "message/message.h"
#include "noded/overlay_client.h"
#include "runtime/runtime.h"
#include "shm/process.h"

static struct {
  rgi_reserve_table *table;
  int asleep; /* the others have been told that this process sleeps */
} failover;

static uint64_t failover_context(void) {
  return rgi_mix_bits(0x6f727068616e73u);
}

int rgi_reserve_failover_open(const char *call) {
  if (!rgi_overlay_exists())
    return RG_SUCCESS;
  failover.asleep = 0;
  failover.table = calloc(1, rgi_reserve_table_bytes(rgi_runtime.size));
  if (!failover.table)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call, rgi_runtime.size);
  rgi_reserve_table_init(failover.table, rgi_runtime.size, 0, 1);
  return RG_SUCCESS;
}

void rgi_reserve_failover_close(void) {
  free(failover.table);
  failover.table = NULL;
}

/* --- sending and receiving ------------------------------------------------------------- */

static int tell_one(const char *call, int to, rgi_reserve_table_state state) {
  int error = rgi_message_deliver(&(rgi_message_envelope){failover_context(), to, (int)state, 0},
                                  NULL, call);
  return error == RG_ERR_PROC_FAILED ? RG_SUCCESS : error;
}

static int tell_all(const char *call, rgi_reserve_table_state state) {
  if (!failover.table)
    return RG_SUCCESS;
  RGI_TRY(rgi_reserve_table_set(failover.table, rgi_runtime.rank, state));
  for (int i = 0; i < rgi_runtime.size; i++)
    if (i != rgi_runtime.rank && !rgi_process_is_dead(i))
      RGI_TRY(tell_one(call, i, state));
  return RG_SUCCESS;
}

static int receive_all(const char *call) {
  for (;;) {
    int there;
    rgi_message_envelope wanted = {failover_context(), RGI_ANY, RGI_ANY, 0}, found;
    rgi_message r;
    RGI_TRY(rgi_message_probe(&wanted, &there, &found, NULL));
    if (!there)
      return RG_SUCCESS;
    RGI_TRY(rgi_message_receive(&found, NULL, &r));
    RGI_TRY(rgi_message_wait(&r, call));
    RGI_TRY(rgi_reserve_table_set(failover.table, found.peer, (rgi_reserve_table_state)found.tag));
  }
}

/* --- what others call ------------------------------------------------------------------- */

int rgi_reserve_failover_leave(const char *call) {
  return tell_all(call, RGI_RESERVE_LEFT);
}

int rgi_reserve_failover_join(const char *call) {
  if (!failover.asleep)
    return RG_SUCCESS;
  failover.asleep = 0;
  return tell_all(call, RGI_RESERVE_WORKING);
}

int rgi_reserve_failover_finished(const char *call, int *over, int *lost) {
  *over = *lost = !failover.table;
  if (!failover.table)
    return RG_SUCCESS;
  if (!failover.asleep) {
    failover.asleep = 1;
    RGI_TRY(tell_all(call, RGI_RESERVE_SLEEPING));
  }
  RGI_TRY(receive_all(call));
  return rgi_reserve_table_finished(failover.table, over, lost);
}
