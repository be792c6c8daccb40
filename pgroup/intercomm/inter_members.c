/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Both are created over the library's world by their members alone; the tags are made from
 * the operation's number, so that operations at the same time keep apart. */
#include "intercomm/inter_members.h"

#include <regroup/comm.h>

#include "base/error.h"
#include "base/mix.h"
#include "base/spare.h"
#include "collectives/calls/group_error.h"
#include "formation/comm.h"
#include "formation/group.h"
#include "formation/group_tree.h"
#include "formation/mpi_group.h"
#include "runtime/runtime.h"

int rgi_inter_members_create(const rgi_members *mine, const rgi_members *others, uint64_t number,
                             MPI_Comm *inter) {
  MPI_Group local, remote;
  RGI_TRY(rgi_mpi_group_of(mine, &local));
  int error = rgi_mpi_group_of(others, &remote);
  if (!error) {
    const rgi_comm_creation side = {.call = "rg_intercomm_create_group",
                                    .comm = rgi_runtime.comm,
                                    .group = local,
                                    .tag = rgi_comm_creation_tag(number),
                                    .method = RG_METHOD_AUTO};
    error = rgi_comm_create_intercomm(&side, remote, number, inter);
    MPI_Group_free(&remote);
  }
  MPI_Group_free(&local);
  return error;
}

int rgi_inter_members_join(const rgi_members *acquired, const rgi_members *callers, uint64_t number,
                           MPI_Comm *world, MPI_Comm *parent) {
  MPI_Group group;
  MPI_Comm made, inter;
  RGI_TRY(rgi_mpi_group_of(acquired, &group));
  int error = rg_comm_create_group(
      rgi_runtime.comm, group, rgi_comm_creation_tag(rgi_mix_bits(number)), RG_METHOD_AUTO, &made);
  MPI_Group_free(&group);
  RGI_TRY(error);
  error = rgi_inter_members_create(acquired, callers, number, &inter);
  if (error) {
    MPI_Comm_free(&made);
    return error;
  }
  *world = made;
  *parent = inter;
  return RG_SUCCESS;
}

/* Member 0 sends its list packed, which begins with its length, or {0, error}. */
int rgi_inter_members_share(const char *call, rg_group g, int error, rgi_members **members) {
  int failed[2] = {0}, count = 2, *sent = failed;
  if (g->me == 0 && !error) {
    count = rgi_members_packed(*members);
    sent = rgi_spare_alloc((size_t)count * sizeof *sent);
    if (sent)
      rgi_members_pack(*members, sent);
    else
      error = rgi_error(RG_ERR_NOMEM, "%s: no memory for %d numbers", call, count);
  }
  if (error) {
    failed[1] = error;
    count = 2;
    sent = failed;
  }
  int lost = rgi_group_tree_broadcast(g, g->tag, call, &count, &sent);
  if (!lost && !sent[0])
    error = rgi_group_error_tell(g, call, rgi_error_report_word(sent[1], 0), error);
  else if (lost)
    error = error ? error : lost;
  else if (g->me > 0)
    error = rgi_members_unpack(call, sent, members);
  if (sent != failed)
    rgi_spare_free(sent);
  if (error && g->me == 0) {
    rgi_members_drop(*members);
    *members = NULL;
  }
  return error;
}
