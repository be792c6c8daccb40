/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * rg_intercomm_create_group: a local communicator for each side, then MPI_Intercomm_create,
 * as the proposal for MPI_Comm_create_group advises. The agreements before and after (comm.c)
 * are over both sides together. */
#include <stdlib.h>

#include "base/error.h"
#include "base/options.h"
#include "formation/comm.h"
#include "formation/comm_agree.h"
#include "formation/creation_order.h"
#include "formation/errhandler.h"
#include "formation/failure_scope.h"
#include "progress/mpi_error.h"
#include "runtime/mpi_interrupt.h"
#include "runtime/runtime.h"
#include "shm/failure.h"

typedef struct {
  rgi_comm_creation side; /* the caller's own side */
  int remote_n, *remote, remote_me;
} two_sides;

static int groups_overlap(MPI_Group local, MPI_Group remote) {
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

/* Both sides as one creation, beginning with the side whose first rank is lower. Its ranks are in
 * memory that the caller frees, or NULL. */
static rgi_comm_creation join_sides(const two_sides *t, int **ranks) {
  rgi_comm_creation both = t->side;
  int low = low_side(t), n = t->side.n;
  int *all = malloc(((size_t)n + (size_t)t->remote_n) * sizeof *all);
  for (int i = 0; i < n && all; i++)
    all[(low ? 0 : t->remote_n) + i] = t->side.ranks[i];
  for (int i = 0; i < t->remote_n && all; i++)
    all[(low ? n : 0) + i] = t->remote[i];
  both.me += low ? 0 : t->remote_n;
  both.n += t->remote_n;
  both.ranks = *ranks = all;
  return both;
}

static int agree_on_both(const two_sides *t, const rgi_comm_creation *both, int after, int error) {
  const rgi_comm_creation *c = &t->side;
  uint64_t what = rgi_comm_hash_ranks(100 + (uint64_t)c->method, both->n, both->ranks);
  what = rgi_comm_hash_ranks(what, 1, low_side(t) ? &c->n : &t->remote_n) + (uint64_t)after;
  return rgi_comm_agree(both, what, error);
}

static int connect_by(MPI_Comm peers, int leader, int tag, MPI_Comm local, MPI_Comm *inter) {
  RGI_TRY_MPI(MPI_Intercomm_create(local, 0, peers, leader, tag, inter));
  return RG_SUCCESS;
}

/* The first ranks of both sides, in ascending order. */
static int create_pair_comm(const two_sides *t, MPI_Comm *pair) {
  MPI_Group all, both;
  int mine = t->side.ranks[0], other = t->remote[0];
  const int ends[] = {mine < other ? mine : other, mine < other ? other : mine};
  MPI_Comm_group(t->side.comm, &all);
  MPI_Group_incl(all, 2, ends, &both);
  rgi_comm_creation c = t->side;
  c.group = both;
  c.n = 2;
  c.me = mine > other;
  c.ranks = ends;
  int error = rgi_comm_create_native(&c, pair);
  MPI_Group_free(&both);
  MPI_Group_free(&all);
  if (!error)
    MPI_Comm_set_errhandler(*pair, MPI_ERRORS_RETURN);
  return error;
}

/* In a job that survives. MPICH's leaders exchange their members under a tag of MPICH's own, so
 * that the next attempt would receive messages left over from one that a death has ended.
 * Therefore the leaders use a communicator of their own for each attempt, and the communicators
 * of an attempt that failed are not freed: MPICH does not use their context ids again. */
static int connect_interruptibly(const two_sides *t, MPI_Comm local, MPI_Comm *inter) {
  const rgi_comm_creation *c = &t->side;
  MPI_Comm pair = MPI_COMM_SELF; /* significant on the leaders alone */
  if (c->me == 0)
    RGI_TRY(create_pair_comm(t, &pair));
  rgi_mpi_interrupt_begin(RGI_MPI_INTERRUPT_ANY);
  int error = connect_by(pair, c->ranks[0] < t->remote[0], c->tag, local, inter);
  error = rgi_mpi_interrupt_end(error, c->call);
  if (c->me == 0 && !error)
    MPI_Comm_free(&pair);
  return error;
}

static int build_intercomm(const two_sides *t, MPI_Comm *inter) {
  const rgi_comm_creation *c = &t->side;
  MPI_Comm local;
  RGI_TRY(rgi_comm_create_by_method(c, &local));
  MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN);
  int error = rgi_mpi_interrupt_possible()
                  ? connect_interruptibly(t, local, inter)
                  : connect_by(c->comm, t->remote[0], c->tag, local, inter);
  if (error != RG_ERR_PROC_FAILED && error != RG_ERR_REVOKED)
    MPI_Comm_free(&local);
  return error;
}

static int build_in_order(const two_sides *t, MPI_Comm *inter) {
  int *ranks, error = RG_SUCCESS;
  rgi_comm_creation both = join_sides(t, &ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d ranks", both.call, both.n);
  if (rgi_comm_may_talk(both.comm) && rgi_options_choice(RGI_OPT_CHECK))
    error = agree_on_both(t, &both, 0, rgi_comm_check_room(both.call));
  if (!error)
    error = rgi_creation_order_begin(&both);
  if (!error) {
    error = build_intercomm(t, inter);
    rgi_creation_order_end();
  }
  if (!error && rgi_comm_may_talk(both.comm) && rgi_mpi_interrupt_possible()) {
    error = agree_on_both(t, &both, 1, RG_SUCCESS);
    if (error)
      MPI_Comm_free(inter);
  }
  free(ranks);
  return error;
}

static int create_intercomm(const two_sides *t, MPI_Comm parent, MPI_Comm *newcomm) {
  MPI_Comm inter;
  int entry = rgi_errhandler_begin(parent);
  int error = build_in_order(t, &inter);
  rgi_errhandler_end(entry, error ? MPI_COMM_NULL : inter);
  if (error)
    return error;
  RGI_TRY(rgi_comm_track(inter));
  *newcomm = inter;
  return RG_SUCCESS;
}

/* The ranks of both sides in t->side.comm. */
static int find_sides(two_sides *t, int **mine, MPI_Group remote) {
  const rgi_comm_creation *c = &t->side;
  RGI_TRY(rgi_comm_ranks_of_group(c->call, c->comm, c->group, c->n, mine));
  return rgi_comm_ranks_of_group(c->call, c->comm, remote, t->remote_n, &t->remote);
}

static int create_checked(const rgi_comm_creation *side, MPI_Group remote, MPI_Comm *newcomm) {
  const char *call = side->call;
  two_sides t = {.side = *side};
  rgi_comm_creation *c = &t.side;
  int *mine = NULL;
  RGI_TRY(rgi_comm_check_parent(c));
  if (c->group == MPI_GROUP_NULL || remote == MPI_GROUP_NULL)
    return rgi_error(RG_ERR_GROUP, "%s: a group is MPI_GROUP_NULL", call);
  MPI_Group_size(c->group, &c->n);
  MPI_Group_rank(c->group, &c->me);
  MPI_Group_size(remote, &t.remote_n);
  MPI_Group_rank(remote, &t.remote_me);
  if (c->me == MPI_UNDEFINED && t.remote_me != MPI_UNDEFINED)
    return rgi_error(RG_ERR_GROUP,
                     "%s: the caller is in the remote group: name its own group first", call);
  if (c->me == MPI_UNDEFINED || t.remote_n == 0) {
    *newcomm = MPI_COMM_NULL;
    return RG_SUCCESS;
  }
  if (groups_overlap(c->group, remote))
    return rgi_error(RG_ERR_GROUP, "%s: the two groups share a process", call);
  int error = find_sides(&t, &mine, remote);
  if (!error) {
    free(mine);
    free(t.remote);
    mine = t.remote = NULL;
    c->comm = rgi_comm_to_talk_on(c->comm, c->group, remote);
    error = find_sides(&t, &mine, remote);
  }
  c->ranks = mine;
  if (!error)
    error = create_intercomm(&t, side->comm, newcomm);
  free(mine);
  free(t.remote);
  return error;
}

int rgi_comm_create_intercomm(const rgi_comm_creation *side, MPI_Group remote, uint64_t creation_id,
                              MPI_Comm *newcomm) {
  rgi_members *members;
  RGI_TRY(rgi_runtime_check_mpi(side->call));
  RGI_TRY(rgi_failure_scope_begin(side->call, side->group, remote, &members));
  rgi_failure_scope_now.creation_ids[0] = creation_id;
  int error = create_checked(side, remote, newcomm);
  rgi_failure_scope_end(members);
  return error;
}

int rg_intercomm_create_group(MPI_Comm comm, MPI_Group local, MPI_Group remote, int tag,
                              rg_comm_method method, MPI_Comm *newcomm) {
  const rgi_comm_creation side = {__func__, comm, local, tag, method, 0, 0, NULL};
  RGI_REQUIRE(newcomm);
  return rgi_comm_create_intercomm(&side, remote, 0, newcomm);
}
