/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Spawning and connecting inside one job. Spawned processes come out of the reserve. A port's
 * name is "regroup:PROCESS:NUMBER": rank 0 of the connecting side sends its side's members to that
 * process, rank 0 of the accepting side answers with its own, and each broadcasts the other
 * side's members to its side. */
#include <stdio.h>

#include "base/error.h"
#include "base/mix.h"
#include "base/spare.h"
#include "formation/group.h"
#include "formation/group_tree.h"
#include "intercomm/inter_members.h"
#include "intercomm/reserve.h"
#include "intercomm/spawn.h"
#include "message/message.h"
#include "runtime/runtime.h"

/* --- spawning --------------------------------------------------------------------- */

static int acquire_and_join(const char *call, rg_group g, int n, uint64_t number, MPI_Comm *inter) {
  const rgi_reserve_request request = {.kind = RGI_RESERVE_SPAWN, .n = n, .number = number};
  rgi_members *acquired;
  RGI_TRY(rgi_reserve_acquire(call, g, &request, &acquired));
  int error = rgi_inter_members_create(g->members, acquired, number, inter);
  rgi_members_drop(acquired);
  return error;
}

/* The acquired processes run already: only their number counts. */
static int spawn_processes(const char *call, MPI_Comm comm, const rgi_spawn_order *order,
                           MPI_Comm *inter) {
  rg_group g;
  uint64_t number;
  RGI_TRY(rg_group_from_comm(comm, &g));
  int error = rgi_group_check_member(call, g); /* the members' deaths end the waits */
  if (!error) {
    number = rgi_group_creation_begin(g);
    error = rgi_group_creation_result(number, acquire_and_join(call, g, order->n, number, inter));
  }
  rg_group_free(&g);
  return error;
}

/* --- ports ------------------------------------------------------------------------ */

static int open_port(const char *call, char port[MPI_MAX_PORT_NAME]) {
  static int ports;
  (void)call;
  snprintf(port, MPI_MAX_PORT_NAME, "regroup:%d:%d", rgi_runtime.rank, ports++);
  return RG_SUCCESS;
}

static void close_port(char port[MPI_MAX_PORT_NAME]) {
  port[0] = '\0';
}

static uint64_t port_context(int number) {
  return rgi_mix_bits(0x706f7274u + (uint64_t)number * 2);
}

static int send_members(const char *call, const rgi_members *members, int to, int number) {
  int count = rgi_members_packed(members), *ints = rgi_spare_alloc((size_t)count * sizeof *ints);
  if (!ints)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call,
                     rgi_members_count(members));
  rgi_members_pack(members, ints);
  int error = rgi_message_deliver(&(rgi_message_envelope){.context = port_context(number),
                                                          .peer = to,
                                                          .bytes = (size_t)count * sizeof *ints},
                                  ints, call);
  rgi_spare_free(ints);
  return error;
}

static int receive_members(const char *call, int from, int number, rgi_members **members) {
  int count, *ints;
  RGI_TRY(rgi_group_tree_receive(port_context(number), from, 0, call, &count, &ints));
  int error = rgi_members_unpack(call, ints, members);
  rgi_spare_free(ints);
  return error;
}

/* Rank 0 of each side sends the other its side's members. accepts: the caller opened the port. */
static int exchange_members(const char *call, const char *port, int accepts,
                            const rgi_members *mine, rgi_members **others) {
  int owner, number;
  rgi_members *theirs;
  if (sscanf(port, "regroup:%d:%d", &owner, &number) != 2 || owner < 0 || owner >= rgi_runtime.size)
    return rgi_error(RG_ERR_ARG, "%s: '%s' is no port of this job", call, port);
  if (!accepts) {
    RGI_TRY(send_members(call, mine, owner, number));
    return receive_members(call, owner, number, others);
  }
  RGI_TRY(receive_members(call, RGI_ANY, number, &theirs));
  int error = send_members(call, mine, rgi_members_at(theirs, 0), number);
  if (error)
    rgi_members_drop(theirs);
  else
    *others = theirs;
  return error;
}

/* A number that both sides compute. */
static uint64_t pair_number(const rgi_members *mine, const rgi_members *others) {
  return rgi_mix_bits(rgi_members_hash(mine) ^ rgi_members_hash(others)) | 1;
}

static int connect_sides(const char *call, const char *port, int accepts, MPI_Comm comm,
                         MPI_Comm *inter) {
  rg_group g;
  rgi_members *others = NULL;
  int error = RG_SUCCESS;
  RGI_TRY(rg_group_from_comm(comm, &g));
  if (g->me == 0)
    error = exchange_members(call, port, accepts, g->members, &others);
  error = rgi_inter_members_share(call, g, error, &others);
  if (!error) {
    error = rgi_inter_members_create(g->members, others, pair_number(g->members, others), inter);
    rgi_members_drop(others);
  }
  rg_group_free(&g);
  return error;
}

static int accept_clients(const char *call, char port[MPI_MAX_PORT_NAME], MPI_Comm comm,
                          MPI_Comm *inter) {
  return connect_sides(call, port, 1, comm, inter);
}

static int connect_to(const char *call, char port[MPI_MAX_PORT_NAME], MPI_Comm comm,
                      MPI_Comm *inter) {
  return connect_sides(call, port, 0, comm, inter);
}

const rgi_spawn_backend rgi_spawn_reserve = {.spawn = spawn_processes,
                                             .open_port = open_port,
                                             .close_port = close_port,
                                             .accept = accept_clients,
                                             .connect = connect_to};
