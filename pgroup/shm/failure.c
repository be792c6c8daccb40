/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "shm/failure.h"

#include "base/error.h"
#include "base/label.h"
#include "shm/process.h"
#include "shm/revocation.h"

_Thread_local rgi_failure_scope rgi_failure_scope_now;

int rgi_failure_check_creation(const uint64_t creation_ids[RGI_CREATION_IDS], const char *call) {
  for (int i = 0; i < RGI_CREATION_IDS; i++)
    if (creation_ids[i] && rgi_revocation_has(creation_ids[i]))
      return rgi_error(
          RG_ERR_REVOKED,
          "%s: the group was not created: a process died while it was created, and not "
          "all of its members have it",
          call);
  return RG_SUCCESS;
}

int rgi_failure_check(const rgi_failure_scope *scope, const char *call) {
  char group[RGI_LABEL_PHRASE];
  if (!scope->members || !rgi_process_view.journal)
    return RG_SUCCESS;
  for (int i = 0, n = rgi_process_deaths(); i < n; i++) {
    int rank = scope->find(scope->members, rgi_process_death(i));
    if (rank >= 0)
      return rgi_error(RG_ERR_PROC_FAILED,
                       "%s%s: rank %d of the group (rank %d of the world) has died", call,
                       rgi_label_phrase(scope->context, group), rank, rgi_process_death(i));
  }
  if (!rgi_revocation_any())
    return RG_SUCCESS;
  if (rgi_revocation_has(scope->context))
    return rgi_error(RG_ERR_REVOKED, "%s%s: a member has revoked the group", call,
                     rgi_label_phrase(scope->context, group));
  if (scope->parent && rgi_revocation_has(scope->parent))
    return rgi_error(RG_ERR_REVOKED, "%s: the parent group has been revoked", call);
  return rgi_failure_check_creation(scope->creation_ids, call);
}

int rgi_failure_cause(const rgi_failure_scope *scope, int error, const char *call) {
  int cause = error == RG_ERR_TIMEOUT || error == RG_ERR_MPI ? rgi_failure_check(scope, call) : 0;
  return cause ? cause : error;
}
