/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * rg_intercomm_create_group: a local communicator for each side, then MPI_Intercomm_create,
 * as the proposal for MPI_Comm_create_group advises. The agreements before and after (comm.c)
 * are over both sides together. */
#include "formation/comm.h"
#include "base/error.h"
#include "base/options.h"
#include "base/spare.h"
#include "formation/comm_agree.h"
#include "formation/creation_order.h"
#include "formation/errhandler.h"
#include "formation/failure_scope.h"
#include "mpich/mpich.h"
#include "progress/mpi_error.h"
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

static int low_side(const two_sides *sides) {
  return sides->side.ranks[0] < sides->remote[0];
}

/* Both sides as one creation, beginning with the side whose first rank is lower. Its ranks are in
 * memory that the caller frees, or NULL. */
static rgi_comm_creation join_sides(const two_sides *sides, int **ranks) {
  rgi_comm_creation both = sides->side;
  int low = low_side(sides), n = sides->side.n;
  int *all = rgi_spare_alloc(((size_t)n + (size_t)sides->remote_n) * sizeof *all);
  for (int i = 0; i < n && all; i++)
    all[(low ? 0 : sides->remote_n) + i] = sides->side.ranks[i];
  for (int i = 0; i < sides->remote_n && all; i++)
    all[(low ? n : 0) + i] = sides->remote[i];
  both.me += low ? 0 : sides->remote_n;
  both.n += sides->remote_n;
  both.ranks = *ranks = all;
  return both;
}

static int agree_on_both(const two_sides *sides, const rgi_comm_creation *both, int after,
                         int error) {
  const rgi_comm_creation *creation = &sides->side;
  uint64_t what = rgi_comm_hash_ranks(100 + (uint64_t)creation->method, both->n, both->ranks);
  what = rgi_comm_hash_ranks(what, 1, low_side(sides) ? &creation->n : &sides->remote_n) +
         (uint64_t)after;
  return rgi_comm_agree(both, what, error);
}

static int connect_by(MPI_Comm peers, int leader, int tag, MPI_Comm local, MPI_Comm *inter) {
  RGI_TRY_MPI(MPI_Intercomm_create(local, 0, peers, leader, tag, inter));
  return RG_SUCCESS;
}

/* The first ranks of both sides, in ascending order. */
static int create_pair_comm(const two_sides *sides, MPI_Comm *pair) {
  MPI_Group all, both;
  int mine = sides->side.ranks[0], other = sides->remote[0];
  const int ends[] = {mine < other ? mine : other, mine < other ? other : mine};
  MPI_Comm_group(sides->side.comm, &all);
  MPI_Group_incl(all, 2, ends, &both);
  rgi_comm_creation creation = sides->side;
  creation.group = both;
  creation.n = 2;
  creation.me = mine > other;
  creation.ranks = ends;
  int error = rgi_comm_create_native(&creation, pair);
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
static int connect_interruptibly(const two_sides *sides, MPI_Comm local, MPI_Comm *inter) {
  const rgi_comm_creation *creation = &sides->side;
  MPI_Comm pair = MPI_COMM_SELF; /* significant on the leaders alone */
  if (creation->me == 0)
    RGI_TRY(create_pair_comm(sides, &pair));
  rgi_mpich_interrupt_begin(RGI_MPICH_INTERRUPT_ANY);
  int error = connect_by(pair, creation->ranks[0] < sides->remote[0], creation->tag, local, inter);
  error = rgi_mpich_interrupt_end(error, creation->call);
  if (creation->me == 0 && !error)
    MPI_Comm_free(&pair);
  return error;
}

static int build_intercomm(const two_sides *sides, MPI_Comm *inter) {
  const rgi_comm_creation *creation = &sides->side;
  MPI_Comm local;
  RGI_TRY(rgi_comm_create_by_method(creation, &local));
  MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN);
  int error = rgi_mpich_interrupt_possible()
                  ? connect_interruptibly(sides, local, inter)
                  : connect_by(creation->comm, sides->remote[0], creation->tag, local, inter);
  if (error != RG_ERR_PROC_FAILED && error != RG_ERR_REVOKED)
    MPI_Comm_free(&local);
  return error;
}

static int build_in_order(const two_sides *sides, MPI_Comm *inter) {
  int *ranks, error = RG_SUCCESS;
  rgi_comm_creation both = join_sides(sides, &ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d ranks", both.call, both.n);
  if (rgi_comm_may_talk(both.comm) && rgi_options_choice(RGI_OPT_CHECK))
    error = agree_on_both(sides, &both, 0, rgi_comm_check_room(both.call));
  if (!error)
    error = rgi_creation_order_begin(&both);
  if (!error) {
    error = build_intercomm(sides, inter);
    rgi_creation_order_end();
  }
  if (!error && rgi_comm_may_talk(both.comm) && rgi_mpich_interrupt_possible()) {
    error = agree_on_both(sides, &both, 1, RG_SUCCESS);
    if (error)
      MPI_Comm_free(inter);
  }
  rgi_spare_free(ranks);
  return error;
}

static int create_intercomm(const two_sides *sides, MPI_Comm parent, MPI_Comm *newcomm) {
  MPI_Comm inter;
  int entry = rgi_errhandler_begin(parent);
  int error = build_in_order(sides, &inter);
  rgi_errhandler_end(entry, error ? MPI_COMM_NULL : inter);
  if (error)
    return error;
  RGI_TRY(rgi_comm_track(inter));
  *newcomm = inter;
  return RG_SUCCESS;
}

/* The ranks of both sides in sides->side.comm. */
static int find_sides(two_sides *sides, int **mine, MPI_Group remote) {
  const rgi_comm_creation *creation = &sides->side;
  RGI_TRY(
      rgi_comm_ranks_of_group(creation->call, creation->comm, creation->group, creation->n, mine));
  return rgi_comm_ranks_of_group(creation->call, creation->comm, remote, sides->remote_n,
                                 &sides->remote);
}

static int create_checked(const rgi_comm_creation *side, MPI_Group remote, MPI_Comm *newcomm) {
  const char *call = side->call;
  two_sides sides = {.side = *side};
  rgi_comm_creation *creation = &sides.side;
  int *mine = NULL;
  RGI_TRY(rgi_comm_check_parent(creation));
  if (creation->group == MPI_GROUP_NULL || remote == MPI_GROUP_NULL)
    return rgi_error(RG_ERR_GROUP, "%s: a group is MPI_GROUP_NULL", call);
  MPI_Group_size(creation->group, &creation->n);
  MPI_Group_rank(creation->group, &creation->me);
  MPI_Group_size(remote, &sides.remote_n);
  MPI_Group_rank(remote, &sides.remote_me);
  if (creation->me == MPI_UNDEFINED && sides.remote_me != MPI_UNDEFINED)
    return rgi_error(RG_ERR_GROUP,
                     "%s: the caller is in the remote group: name its own group first", call);
  if (creation->me == MPI_UNDEFINED || sides.remote_n == 0) {
    *newcomm = MPI_COMM_NULL;
    return RG_SUCCESS;
  }
  if (groups_overlap(creation->group, remote))
    return rgi_error(RG_ERR_GROUP, "%s: the two groups share a process", call);
  int error = find_sides(&sides, &mine, remote);
  if (!error) {
    rgi_spare_free(mine);
    rgi_spare_free(sides.remote);
    mine = sides.remote = NULL;
    creation->comm = rgi_comm_to_talk_on(creation->comm, creation->group, remote);
    error = find_sides(&sides, &mine, remote);
  }
  creation->ranks = mine;
  if (!error)
    error = create_intercomm(&sides, side->comm, newcomm);
  rgi_spare_free(mine);
  rgi_spare_free(sides.remote);
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
  const rgi_comm_creation side = {
      .call = __func__, .comm = comm, .group = local, .tag = tag, .method = method};
  RGI_REQUIRE(newcomm);
  return rgi_comm_create_intercomm(&side, remote, 0, newcomm);
}
