/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "shm/failure.h"

#include "base/error.h"
#include "shm/process.h"
#include "shm/revocation.h"

_Thread_local rgi_scope rgi_scope_now;

int rgi_births_check(const uint64_t births[RGI_BIRTHS], const char *call) {
  for (int i = 0; i < RGI_BIRTHS; i++)
    if (births[i] && rgi_is_revoked(births[i]))
      return rgi_error(RG_ERR_REVOKED,
                       "%s: the group did not come to be: a process died while it was formed, and "
                       "not all of its members have it",
                       call);
  return RG_SUCCESS;
}

int rgi_scope_check(const rgi_scope *scope, const char *call) {
  if (!scope->members || !rgi_processes.journal)
    return RG_SUCCESS;
  for (int i = 0, n = rgi_deaths(); i < n; i++) {
    int rank = scope->find(scope->members, rgi_death(i));
    if (rank >= 0)
      return rgi_error(RG_ERR_PROC_FAILED,
                       "%s: rank %d of the group (rank %d of the world) has died", call, rank,
                       rgi_death(i));
  }
  if (!rgi_revocations())
    return RG_SUCCESS;
  if (rgi_is_revoked(scope->context))
    return rgi_error(RG_ERR_REVOKED, "%s: a member has revoked the group", call);
  if (scope->parent && rgi_is_revoked(scope->parent))
    return rgi_error(RG_ERR_REVOKED, "%s: the parent group has been revoked", call);
  return rgi_births_check(scope->births, call);
}

int rgi_scope_cause(const rgi_scope *scope, int error, const char *call) {
  int cause = error == RG_ERR_TIMEOUT || error == RG_ERR_MPI ? rgi_scope_check(scope, call) : 0;
  return cause ? cause : error;
}
