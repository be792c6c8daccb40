/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * rg_comm_create_group: checks, choice of the method, and what surrounds it.
 *
 * Where the library runs and checks are on (RG_CHECK), the members agree first that they mean the
 * same creation, so that a mistake of one member is an error of all. In a job that survives deaths
 * the members also agree afterwards: a death may have ended the creation on some members only, and
 * then no member keeps the communicator. Creations by the recursive method run one at a time in
 * each process (creation_order.h). */
#include "formation/comm.h"

#include "base/error.h"
#include "base/options.h"
#include "base/spare.h"
#include "formation/comm_agree.h"
#include "formation/creation_order.h"
#include "formation/errhandler.h"
#include "formation/failure_scope.h"
#include "formation/mpi_group.h"
#include "mpich/mpich.h"
#include "progress/mpi_error.h"
#include "runtime/runtime.h"

const char *rg_comm_method_name(rg_comm_method method) {
  static const char *const names[] = {"auto", "recursive", "native"};
  return (unsigned)method < sizeof names / sizeof names[0] ? names[method] : NULL;
}

uint64_t rgi_comm_hash_ranks(uint64_t seed, int n, const int ranks[]) {
  uint64_t h = seed ^ (uint64_t)n; /* FNV-1a over words, then mixed */
  for (int i = 0; i < n; i++)
    h = (h ^ (uint64_t)ranks[i]) * 0x100000001b3u;
  h ^= h >> 31;
  return h * 0x9e3779b97f4a7c15u;
}

static int check_tag(const char *call, MPI_Comm comm, int tag) {
  int *bound, found = 0;
  MPI_Comm_get_attr(comm, MPI_TAG_UB, &bound, &found);
  int most = found ? *bound : 32767;
  return tag >= 0 && tag <= most
             ? RG_SUCCESS
             : rgi_error(RG_ERR_TAG, "%s: tag %d; tags go from 0 to %d", call, tag, most);
}

int rgi_comm_check_parent(rgi_comm_creation *creation) {
  int inter = 0;
  RGI_TRY(rgi_runtime_check_mpi(creation->call));
  RGI_TRY(rgi_options_ready());
  if (creation->comm == MPI_COMM_NULL)
    return rgi_error(RG_ERR_COMM, "%s: the parent is MPI_COMM_NULL", creation->call);
  MPI_Comm_test_inter(creation->comm, &inter);
  if (inter)
    return rgi_error(RG_ERR_COMM,
                     "%s: the parent is an inter-communicator; pass an intra-communicator that "
                     "holds the members",
                     creation->call);
  if (!rg_comm_method_name(creation->method))
    return rgi_error(RG_ERR_ARG, "%s: %d is no method", creation->call, (int)creation->method);
  if (creation->method == RG_METHOD_AUTO)
    creation->method = (rg_comm_method)rgi_options_choice(RGI_OPT_COMM_METHOD);
  if (rgi_mpich_interrupt_possible())
    creation->method = RG_METHOD_NATIVE; /* the only one that a death can end */
  return check_tag(creation->call, creation->comm, creation->tag);
}

static int find_outsider(int n, const int ranks[]) {
  for (int i = 0; i < n; i++)
    if (ranks[i] == MPI_UNDEFINED)
      return i;
  return -1;
}

int rgi_comm_ranks_of_group(const char *call, MPI_Comm comm, MPI_Group group, int n, int **ranks) {
  MPI_Group parent;
  MPI_Comm_group(comm, &parent);
  int error = rgi_mpi_group_translate(call, group, n, parent, ranks);
  MPI_Group_free(&parent);
  if (error)
    return error;
  int outsider = find_outsider(n, *ranks);
  if (outsider < 0)
    return RG_SUCCESS;
  rgi_spare_free(*ranks);
  return rgi_error(RG_ERR_GROUP, "%s: rank %d of the group is not in the parent", call, outsider);
}

MPI_Comm rgi_comm_to_talk_on(MPI_Comm comm, MPI_Group members, MPI_Group other) {
  int in_world = rgi_runtime.started && rgi_mpi_group_is_among(members, rgi_runtime.mpi_group) &&
                 rgi_mpi_group_is_among(other, rgi_runtime.mpi_group);
  return in_world ? rgi_runtime.comm : comm;
}

int rgi_comm_may_talk(MPI_Comm comm) {
  return rgi_runtime.started && comm == rgi_runtime.comm;
}

int rgi_comm_creation_tag(uint64_t number) {
  int *most, found = 0;
  MPI_Comm_get_attr(rgi_runtime.comm, MPI_TAG_UB, &most, &found);
  return (int)(number % (found ? (uint64_t)*most + 1 : 32768));
}

int rgi_comm_create_by_method(const rgi_comm_creation *creation, MPI_Comm *newcomm) {
  /* The native call is the faster one at every size: docs/develop/decisions.md. */
  return creation->method == RG_METHOD_RECURSIVE ? rgi_comm_create_recursive(creation, newcomm)
                                                 : rgi_comm_create_native(creation, newcomm);
}

static int create_in_order(const rgi_comm_creation *creation, MPI_Comm *newcomm) {
  RGI_TRY(rgi_creation_order_begin(creation));
  int error = rgi_comm_create_recursive(creation, newcomm);
  rgi_creation_order_end();
  return error;
}

/* after = 0: all mean the same creation; 1: all have made the communicator. */
static int agree_on_creation(const rgi_comm_creation *creation, int after, int error) {
  uint64_t what = rgi_comm_hash_ranks((uint64_t)creation->method, creation->n, creation->ranks) +
                  (uint64_t)after;
  return rgi_comm_agree(creation, what, error);
}

static int create_comm(const rgi_comm_creation *creation, MPI_Comm parent, MPI_Comm *newcomm) {
  MPI_Comm made;
  if (rgi_comm_may_talk(creation->comm) && rgi_options_choice(RGI_OPT_CHECK))
    RGI_TRY(agree_on_creation(creation, 0, rgi_comm_check_room(creation->call)));
  int entry = rgi_errhandler_begin(parent);
  int error = creation->method == RG_METHOD_RECURSIVE ? create_in_order(creation, &made)
                                                      : rgi_comm_create_by_method(creation, &made);
  rgi_errhandler_end(entry, error ? MPI_COMM_NULL : made);
  if (error)
    return error;
  if (rgi_comm_may_talk(creation->comm) && rgi_mpich_interrupt_possible())
    error = agree_on_creation(creation, 1, RG_SUCCESS);
  if (error) {
    MPI_Comm_free(&made);
    return error;
  }
  RGI_TRY(rgi_comm_track(made));
  *newcomm = made;
  return RG_SUCCESS;
}

int rgi_comm_create_group(const rgi_comm_creation *asked, MPI_Comm *newcomm) {
  rgi_comm_creation creation = *asked;
  int *ranks;
  RGI_TRY(rgi_comm_check_parent(&creation));
  if (creation.group == MPI_GROUP_NULL)
    return rgi_error(RG_ERR_GROUP, "%s: the group is MPI_GROUP_NULL", creation.call);
  MPI_Group_size(creation.group, &creation.n);
  MPI_Group_rank(creation.group, &creation.me);
  if (creation.me == MPI_UNDEFINED) {
    *newcomm = MPI_COMM_NULL;
    return RG_SUCCESS;
  }
  RGI_TRY(
      rgi_comm_ranks_of_group(creation.call, creation.comm, creation.group, creation.n, &ranks));
  rgi_spare_free(ranks);
  creation.comm = rgi_comm_to_talk_on(creation.comm, creation.group, MPI_GROUP_EMPTY);
  RGI_TRY(
      rgi_comm_ranks_of_group(creation.call, creation.comm, creation.group, creation.n, &ranks));
  creation.ranks = ranks;
  int error = create_comm(&creation, asked->comm, newcomm);
  rgi_spare_free(ranks);
  return error;
}

int rg_comm_create_group(MPI_Comm comm, MPI_Group group, int tag, rg_comm_method method,
                         MPI_Comm *newcomm) {
  const rgi_comm_creation asked = {
      .call = __func__, .comm = comm, .group = group, .tag = tag, .method = method};
  rgi_members *members;
  RGI_REQUIRE(newcomm);
  RGI_TRY(rgi_runtime_check_mpi(__func__));
  RGI_TRY(rgi_failure_scope_begin(__func__, group, MPI_GROUP_NULL, &members));
  int error = rgi_comm_create_group(&asked, newcomm);
  rgi_failure_scope_end(members);
  return error;
}

/* --- the native method: MPI_Comm_create_group ------------------------------------------------- */

int rgi_comm_create_native(const rgi_comm_creation *creation, MPI_Comm *newcomm) {
  MPI_Comm made = MPI_COMM_NULL;
  rgi_mpich_interrupt_begin(RGI_MPICH_INTERRUPT_CREATION);
  int code = MPI_Comm_create_group(creation->comm, creation->group, creation->tag, &made);
  int error = rgi_mpich_interrupt_end(rgi_mpi_error(code, "MPI_Comm_create_group"), creation->call);
  if (error && code == MPI_SUCCESS)
    MPI_Comm_free(&made);
  *newcomm = made;
  return error;
}
