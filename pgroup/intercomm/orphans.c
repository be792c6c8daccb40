/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "intercomm/orphans.h"

#include <stdlib.h>

#include "base/error.h"
#include "formation/context.h"
#include "intercomm/ledger.h"
#include "message/message.h"
#include "noded/mesh.h"
#include "runtime/runtime.h"
#include "shm/process.h"

static struct {
  rgi_ledger *ledger;
  int asleep; /* and all have been told so */
} orphans;

static uint64_t context(void) {
  return rgi_mix(0x6f727068616e73u);
}

int rgi_orphans_open(const char *call) {
  if (!rgi_mesh_there())
    return RG_SUCCESS;
  orphans.asleep = 0;
  orphans.ledger = calloc(1, rgi_ledger_bytes(rgi_rt.size));
  if (!orphans.ledger)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call, rgi_rt.size);
  rgi_ledger_start(orphans.ledger, rgi_rt.size, 0, 1);
  return RG_SUCCESS;
}

void rgi_orphans_close(void) {
  free(orphans.ledger);
  orphans.ledger = NULL;
}

/* --- telling and hearing -------------------------------------------------------------- */

/* The message is its tag. */
static int tell_one(const char *call, int to, rgi_sleeper state) {
  int error = rgi_message_deliver(context(), to, (int)state, NULL, 0, call);
  return error == RG_ERR_PROC_FAILED ? RG_SUCCESS : error;
}

static int tell_all(const char *call, rgi_sleeper state) {
  if (!orphans.ledger)
    return RG_SUCCESS;
  RGI_TRY(rgi_ledger_put(orphans.ledger, rgi_rt.rank, state));
  for (int i = 0; i < rgi_rt.size; i++)
    if (i != rgi_rt.rank && !rgi_is_dead(i))
      RGI_TRY(tell_one(call, i, state));
  return RG_SUCCESS;
}

static int hear_all(const char *call) {
  for (;;) {
    int there, from, tag;
    size_t bytes;
    rgi_request r;
    RGI_TRY(rgi_message_probe(context(), RGI_ANY, RGI_ANY, &there, &from, &tag, &bytes));
    if (!there)
      return RG_SUCCESS;
    RGI_TRY(rgi_message_receive(context(), from, tag, NULL, 0, &r));
    RGI_TRY(rgi_message_wait(&r, call));
    RGI_TRY(rgi_ledger_put(orphans.ledger, from, (rgi_sleeper)tag));
  }
}

/* --- what others call ------------------------------------------------------------------- */

int rgi_orphans_leave(const char *call) {
  return tell_all(call, RGI_HAS_LEFT);
}

int rgi_orphans_come(const char *call) {
  if (!orphans.asleep)
    return RG_SUCCESS;
  orphans.asleep = 0;
  return tell_all(call, RGI_WORKS);
}

int rgi_orphans_over(const char *call, int *over, int *lost) {
  *over = *lost = !orphans.ledger;
  if (!orphans.ledger)
    return RG_SUCCESS;
  if (!orphans.asleep) {
    orphans.asleep = 1;
    RGI_TRY(tell_all(call, RGI_SLEEPS));
  }
  RGI_TRY(hear_all(call));
  return rgi_ledger_over(orphans.ledger, over, lost);
}
