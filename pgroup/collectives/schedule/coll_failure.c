/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "collectives/schedule/coll_failure.h"

#include <stdio.h>

#include "base/error.h"
#include "collectives/node/step.h"
#include "message/message.h"

#define FAILURE_TAG (1 << 30) /* no operation has it */

static int must_be_told(const rgi_coll *coll, int error) {
  return coll->nodes.count > 1 && error != RG_ERR_PROC_FAILED && error != RG_ERR_REVOKED &&
         error != RG_ERR_TIMEOUT && error != RG_ERR_MPI;
}

int rgi_coll_failure_tell(rgi_coll *coll, const char *call, int error) {
  char text[RGI_ERROR_TEXT];
  if (!must_be_told(coll, error) || atomic_exchange(&coll->failed, error))
    return error;
  snprintf(text, sizeof text, "%s", rg_error_detail());
  for (int i = 0; i < coll->all.size; i++)
    if (coll->nodes.of[i] != coll->nodes.mine) {
      rgi_message_envelope to = {coll->context, rgi_members_at(coll->members, i), FAILURE_TAG, 0};
      rgi_message_deliver(&to, NULL, call); /* the others are told also where one cannot be */
    }
  return rgi_error(error, "%s", text);
}

int rgi_coll_failure_look(rgi_coll *coll, const char *call) {
  rgi_message_envelope wanted = {coll->context, RGI_ANY, FAILURE_TAG, 0}, found;
  rgi_message_cell *taken;
  rgi_message r;
  int there = 0;
  if (coll->nodes.count == 1)
    return RG_SUCCESS;
  if (!atomic_load(&coll->failed)) {
    RGI_TRY(rgi_message_probe(&wanted, &there, &found, &taken));
    if (!there)
      return RG_SUCCESS;
    rgi_message_accept(taken, NULL, 0, &r);
    atomic_store(&coll->failed, RG_ERR_MISMATCH);
  }
  return rgi_error(RG_ERR_MISMATCH,
                   "%s: an operation of this group ended in an error on a member on another node, "
                   "or on this one; form the group anew",
                   call);
}

int rgi_coll_failure_check(rgi_coll *coll, const char *call) {
  if (!atomic_load_explicit(&coll->failed, memory_order_relaxed))
    return RG_SUCCESS;
  if (coll->state->n > 1 && !coll->state->memory)
    rgi_shared_state_attach(coll->state); /* the others may wait there */
  return rgi_step_result(coll->state, rgi_coll_failure_look(coll, call));
}
