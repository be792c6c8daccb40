/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * rg_intercomm_create_group: the advice of the proposal for
 * MPI_Comm_create_group (a local communicator for each side, then
 * MPI_Intercomm_create), with one agreement over both sides before. */
#include <stdlib.h>

#include "formation/agree.h"
#include "formation/comm.h"
#include "formation/quiet.h"
#include "formation/turn.h"
#include "runtime/error.h"
#include "runtime/liveness.h"
#include "runtime/options.h"
#include "runtime/runtime.h"

typedef struct {
  rgi_creation side; /* the caller's own side */
  int remote_n, *remote, remote_me;
} two_sides;

static int overlap(MPI_Group local, MPI_Group remote) {
  MPI_Group both;
  int n = 0;
  MPI_Group_intersection(local, remote, &both);
  MPI_Group_size(both, &n);
  if (n > 0)
    MPI_Group_free(&both);
  return n > 0;
}

static int low_side(const two_sides *t) {
  return t->side.ranks[0] < t->remote[0];
}

/* Both sides together, the one with the lower first rank first; the caller's
 * place among them. */
static int *both_sides(const two_sides *t, int *me) {
  const rgi_creation *c = &t->side;
  int low = low_side(t);
  int *both = malloc(((size_t)c->n + (size_t)t->remote_n) * sizeof *both);
  for (int i = 0; i < c->n && both; i++)
    both[(low ? 0 : t->remote_n) + i] = c->ranks[i];
  for (int i = 0; i < t->remote_n && both; i++)
    both[(low ? c->n : 0) + i] = t->remote[i];
  *me = c->me + (low ? 0 : t->remote_n);
  return both;
}

static int agree_on_both(const two_sides *t, rg_method method, const int both[], int me) {
  const rgi_creation *c = &t->side;
  int n = c->n + t->remote_n;
  uint64_t what = rgi_hash_ranks(100 + (uint64_t)method, n, both);
  what = rgi_hash_ranks(what, 1, low_side(t) ? &c->n : &t->remote_n);
  return rgi_agree(c->comm, n, both, me, c->tag, what, rgi_room_for_comms(c->call), c->call);
}

static int build(const two_sides *t, rg_method method, MPI_Comm *inter) {
  const rgi_creation *c = &t->side;
  MPI_Comm local;
  RGI_TRY(rgi_create_by(method, c, &local));
  MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN);
  int error = rgi_mpi_error(MPI_Intercomm_create(local, 0, c->comm, t->remote[0], c->tag, inter),
                            "MPI_Intercomm_create");
  MPI_Comm_free(&local);
  return error;
}

static int build_in_turn(const two_sides *t, rg_method method, MPI_Comm *inter) {
  const rgi_creation *c = &t->side;
  int me, n = c->n + t->remote_n, *both = both_sides(t, &me);
  if (!both)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d ranks", c->call, n);
  int error = rgi_option_choice(RGI_OPT_CHECK) ? agree_on_both(t, method, both, me) : RG_SUCCESS;
  if (!error)
    error = rgi_turn_begin(c->comm, n, both, me, c->tag, c->call);
  free(both);
  if (error)
    return error;
  error = build(t, method, inter);
  rgi_turn_end();
  return error;
}

static int create(const two_sides *t, rg_method method, MPI_Comm *newcomm) {
  MPI_Comm inter;
  int entry = rgi_quiet_begin(t->side.comm);
  int error = build_in_turn(t, method, &inter);
  rgi_quiet_end(entry, error ? MPI_COMM_NULL : inter);
  if (error)
    return error;
  RGI_TRY(rgi_count_comm(inter));
  *newcomm = inter;
  return RG_SUCCESS;
}

int rg_intercomm_create_group(MPI_Comm comm, MPI_Group local, MPI_Group remote, int tag,
                              rg_method method, MPI_Comm *newcomm) {
  two_sides t = {.side = {.call = __func__, .comm = comm, .group = local, .tag = tag}};
  const char *call = t.side.call;
  int *mine = NULL;
  RGI_REQUIRE(newcomm);
  rgi_scope_now = (rgi_scope){0};
  RGI_TRY(rgi_check_parent(call, comm, tag, &method));
  if (local == MPI_GROUP_NULL || remote == MPI_GROUP_NULL)
    return rgi_error(RG_ERR_GROUP, "%s: a group is MPI_GROUP_NULL", call);
  MPI_Group_size(local, &t.side.n);
  MPI_Group_rank(local, &t.side.me);
  MPI_Group_size(remote, &t.remote_n);
  MPI_Group_rank(remote, &t.remote_me);
  if (t.side.me == MPI_UNDEFINED && t.remote_me != MPI_UNDEFINED)
    return rgi_error(RG_ERR_GROUP,
                     "%s: the caller is in the remote group: name its own group first", call);
  if (t.side.me == MPI_UNDEFINED || t.remote_n == 0) {
    *newcomm = MPI_COMM_NULL;
    return RG_SUCCESS;
  }
  if (overlap(local, remote))
    return rgi_error(RG_ERR_GROUP, "%s: the two groups share a process", call);
  int error = rgi_group_ranks(call, comm, local, t.side.n, &mine);
  if (!error)
    error = rgi_group_ranks(call, comm, remote, t.remote_n, &t.remote);
  t.side.ranks = mine;
  if (!error)
    error = create(&t, method, newcomm);
  free(mine);
  free(t.remote);
  return error;
}
