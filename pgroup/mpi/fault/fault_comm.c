/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * States of communicators. To ask MPI for an attribute takes longer than a short message spends in
 * MPI: each thread remembers the state that it has found last, for as long as none is freed. */
#include "mpi/fault/fault_comm.h"

#include <pthread.h>
#include <regroup/recovery.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/spare.h"
#include "collectives/group/coll_of_group.h"
#include "formation/group.h"
#include "formation/mpi_group.h"
#include "mpi/intercept.h"
#include "noded/client/overlay_client.h"
#include "runtime/runtime.h"
#include "shm/failure.h"
#include "shm/process.h"
#include "shm/revocation.h"

int rgi_fault_comm_on;

static int key = MPI_KEYVAL_INVALID;
static atomic_ulong freed = 1; /* states so far, and 1 */

static _Thread_local struct {
  MPI_Comm comm;
  rgi_fault_comm *state;
  unsigned long freed;
} latest __attribute__((tls_model("initial-exec")));

/* --- finding ------------------------------------------------------------------------------- */

static rgi_fault_comm *ask_attribute(MPI_Comm comm) {
  void *value = NULL;
  int found = 0;
  if (comm == MPI_COMM_NULL || PMPI_Comm_get_attr(comm, key, &value, &found) != MPI_SUCCESS)
    return NULL;
  return found ? value : NULL;
}

rgi_fault_comm *rgi_fault_comm_find(MPI_Comm comm) {
  unsigned long now = atomic_load_explicit(&freed, memory_order_acquire);
  if (!rgi_fault_comm_on)
    return NULL;
  if (latest.comm == comm && latest.freed == now)
    return latest.state;
  rgi_fault_comm *state = ask_attribute(comm);
  if (state) {
    latest.comm = comm;
    latest.state = state;
    latest.freed = now;
  }
  return state;
}

/* --- all of them --------------------------------------------------------------------------- */

static struct {
  pthread_mutex_t lock;
  rgi_fault_comm *first;
} all_states = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void list_state(rgi_fault_comm *state) {
  pthread_mutex_lock(&all_states.lock);
  state->next = all_states.first;
  state->back = &all_states.first;
  if (state->next)
    state->next->back = &state->next;
  all_states.first = state;
  pthread_mutex_unlock(&all_states.lock);
}

static void unlist_state(rgi_fault_comm *state) {
  pthread_mutex_lock(&all_states.lock);
  *state->back = state->next;
  if (state->next)
    state->next->back = state->back;
  pthread_mutex_unlock(&all_states.lock);
}

void rgi_fault_comm_each(void (*visit)(rgi_fault_comm *state)) {
  pthread_mutex_lock(&all_states.lock);
  for (rgi_fault_comm *state = all_states.first; state; state = state->next)
    visit(state);
  pthread_mutex_unlock(&all_states.lock);
}

/* --- making and freeing ---------------------------------------------------------------------- */

void rgi_fault_comm_use(rgi_fault_comm *state) {
  atomic_fetch_add(&state->uses, 1);
}

void rgi_fault_comm_drop(rgi_fault_comm *state) {
  if (atomic_fetch_sub(&state->uses, 1) > 1)
    return;
  rgi_members_drop(state->peers);
  rg_group_free(&state->group);
  free(state);
}

static int free_state(MPI_Comm comm, int keyval, void *value, void *extra) {
  rgi_fault_comm *state = value;
  (void)comm, (void)keyval, (void)extra;
  atomic_fetch_add(&freed, 1);
  unlist_state(state);
  state->comm = MPI_COMM_NULL;
  rgi_fault_comm_drop(state);
  return MPI_SUCCESS;
}

int rgi_fault_comm_members(MPI_Group group, rgi_members **members) {
  int n = 0, *ranks;
  PMPI_Group_size(group, &n);
  RGI_TRY(rgi_mpi_group_translate("MPI", group, n, rgi_runtime.mpi_group, &ranks));
  int error = rgi_members_list("MPI", n, ranks, members);
  rgi_spare_free(ranks);
  return error;
}

static int find_peers(MPI_Comm comm, rgi_fault_comm *state) {
  MPI_Group group;
  PMPI_Comm_test_inter(comm, &state->is_inter);
  if (!state->is_inter) {
    state->peers = rgi_members_share(state->group->members);
    return RG_SUCCESS;
  }
  if (PMPI_Comm_remote_group(comm, &group) != MPI_SUCCESS)
    return rgi_error(RG_ERR_NOMEM, "no memory for MPI's group");
  int error = rgi_fault_comm_members(group, &state->peers);
  PMPI_Group_free(&group);
  return error;
}

/* A revocation of the communicator ends the waits of its collectives, too. */
static int give_collectives_group(MPI_Comm comm, rgi_fault_comm *state) {
  rg_group made;
  if (state->is_inter)
    return RG_SUCCESS;
  RGI_TRY(rgi_group_derive(state->group, &made));
  made->creation_ids[1] = state->group->context;
  int error = rgi_coll_attach("collectives", made);
  if (!error && !rgi_intercept_give_group(comm, made))
    error = rgi_error(RG_ERR_NOMEM, "no memory for an attribute");
  if (error)
    rg_group_free(&made);
  return error;
}

int rgi_fault_comm_attach(MPI_Comm comm, rg_group group) {
  rgi_fault_comm *state = calloc(1, sizeof *state);
  int error = state ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "no memory for a communicator");
  if (!error) {
    *state = (rgi_fault_comm){.comm = comm, .group = group, .uses = 1};
    error = find_peers(comm, state);
  }
  if (!error && PMPI_Comm_set_attr(comm, key, state) != MPI_SUCCESS) {
    rgi_members_drop(state->peers);
    error = rgi_error(RG_ERR_NOMEM, "no memory for an attribute");
  }
  if (error) {
    free(state);
    rg_group_free(&group);
    return error;
  }
  list_state(state);
  return give_collectives_group(comm, state); /* the attribute's deletion frees the rest */
}

int rgi_fault_comm_attach_own(MPI_Comm comm) {
  MPI_Group group;
  rg_group all, made;
  if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS)
    return rgi_error(RG_ERR_NOMEM, "no memory for MPI's group");
  int error = rg_group_from_mpi_group(group, 0, &all);
  PMPI_Group_free(&group);
  RGI_TRY(error);
  error = rgi_group_derive(all, &made);
  rg_group_free(&all);
  RGI_TRY(error);
  uint64_t context = made->context;
  error = rgi_fault_comm_attach(comm, made);
  if (error)
    rgi_overlay_revoke(context);
  return error;
}

int rgi_fault_comm_open(void) {
  if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_state, &key, NULL) != MPI_SUCCESS)
    return rgi_error(RG_ERR_NOMEM, "no memory for an attribute");
  RGI_TRY(rgi_fault_comm_attach_own(MPI_COMM_WORLD));
  return rgi_fault_comm_attach_own(MPI_COMM_SELF);
}

/* --- what has happened ------------------------------------------------------------------------ */

/* The numbers of other nodes' revocations are kept for a while only. */
int rgi_fault_comm_is_revoked(rgi_fault_comm *state) {
  if (atomic_load_explicit(&state->revoked, memory_order_relaxed))
    return 1;
  if (!rgi_revocation_any())
    return 0;
  int found = rgi_revocation_has(state->group->context);
  for (int i = 0; i < RGI_CREATION_IDS && !found; i++)
    found = state->group->creation_ids[i] && rgi_revocation_has(state->group->creation_ids[i]);
  if (found)
    atomic_store(&state->revoked, 1);
  return found;
}

/* Its place among the revoked groups is free for another one. */
void rgi_fault_comm_forget(rgi_fault_comm *state) {
  if (rgi_fault_comm_is_revoked(state))
    rgi_group_end_revocation(state->group);
}

int rgi_fault_comm_failures(rgi_fault_comm *state) {
  int n = 0;
  for (int i = 0, all = rgi_process_deaths(); i < all; i++)
    n += rgi_members_find(state->group->members, rgi_process_death(i)) >= 0;
  return n;
}

static int tell_revoked(const char *call) {
  return rgi_error(RG_ERR_REVOKED, "%s: the communicator has been revoked", call);
}

int rgi_fault_comm_check(rgi_fault_comm *state, const char *call) {
  if (rgi_fault_comm_is_revoked(state))
    return tell_revoked(call);
  for (int i = 0, all = rgi_process_deaths(); i < all; i++)
    if (rgi_members_find(state->group->members, rgi_process_death(i)) >= 0)
      return rgi_error(RG_ERR_PROC_FAILED, "%s: rank %d of MPI_COMM_WORLD has died", call,
                       rgi_process_death(i));
  return RG_SUCCESS;
}

int rgi_fault_comm_check_peer(rgi_fault_comm *state, int peer, const char *call) {
  if (rgi_fault_comm_is_revoked(state))
    return tell_revoked(call);
  if (rgi_process_deaths() == 0)
    return RG_SUCCESS;
  if (peer == MPI_ANY_SOURCE)
    return rgi_fault_comm_failures(state) > state->acknowledged
               ? rgi_error(RG_ERR_PROC_FAILED, "%s: a process that may send has died", call)
               : RG_SUCCESS;
  if (peer < 0 || peer >= rgi_members_count(state->peers) ||
      !rgi_process_is_dead(rgi_members_at(state->peers, peer)))
    return RG_SUCCESS;
  return rgi_error(RG_ERR_PROC_FAILED, "%s: rank %d has died", call, peer);
}
