/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Spawning is a creation (fault_create.h) by the members of a communicator, whose number the
 * processes in reserve learn with the message that they are acquired. Both sides make the
 * inter-communicator, give it its state, and meet; then the callers agree, and tell the spawned
 * processes. A process that has an error revokes the number: that ends the waits of all others, the
 * inter-communicator is revoked where there is one, and the spawned processes go back into the
 * reserve. */
#include "mpi/fault/fault_spawn.h"

#include <regroup/collectives.h>
#include <regroup/reserve.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "formation/group.h"
#include "intercomm/inter_members.h"
#include "intercomm/reserve.h"
#include "mpi/fault/fault_create.h"
#include "mpi/fault/fault_order.h"
#include "mpi/fault/fault_world.h"
#include "mpi/intercept.h"
#include "noded/client/overlay_client.h"
#include "runtime/runtime.h"
#include "shm/failure.h"

/* Parts of one creation's number. */
enum { PART_BOTH, PART_SPAWNED };

static struct {
  int is_open; /* this job has processes in reserve */
  int size;    /* of the whole job */
  int appnum;
  int is_spawned;
  rgi_fault_comm *parent; /* of a spawned process */
} spawning;

/* --- both sides ------------------------------------------------------------------------------- */

typedef struct {
  const char *call;
  MPI_Comm inter;
  uint64_t number;
  rgi_members *callers, *spawned;
} meeting;

typedef struct {
  char *text;
  int64_t bytes;
} order_text;

/* The sender's text on all members. */
static int share_text(const char *call, rg_group g, int root, order_text *order) {
  int is_root = g->me == root;
  RGI_TRY(rg_bcast(g, &order->bytes, 1, MPI_INT64_T, root));
  if (!is_root) {
    free(order->text);
    order->text = malloc((size_t)order->bytes + 1);
  }
  if (!order->text)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for the arguments", call);
  if (!is_root)
    order->text[order->bytes] = '\0';
  return rg_bcast(g, order->text, order->bytes, MPI_CHAR, root);
}

static int make_group(const meeting *with, int part, rgi_members *members, rg_group *g) {
  const uint64_t creation_ids[RGI_CREATION_IDS] = {with->number};
  return rgi_group_creation_end(creation_ids, (uint32_t)part, 1, members, 0, g);
}

/* The inter-communicator's state; the callers' text on the spawned. */
static int meet_sides(const meeting *with, order_text *order) {
  rgi_members *all;
  rg_group both, made;
  RGI_TRY(rgi_members_concat(with->call, with->callers, with->spawned, &all));
  RGI_TRY(make_group(with, PART_BOTH, all, &both));
  int error = share_text(with->call, both, 0, order);
  if (!error)
    error = rgi_group_derive(both, &made);
  if (!error) {
    made->creation_ids[0] = with->number;
    error = rgi_fault_comm_attach(with->inter, made);
  }
  if (!error)
    error = rg_barrier(both);
  rg_group_free(&both);
  return error;
}

/* --- MPI_COMM_WORLD --------------------------------------------------------------------------- */

/* comm's group is taken over. */
static int set_world(MPI_Comm comm, rg_group g) {
  RGI_TRY(rgi_fault_comm_attach(comm, g));
  RGI_TRY(rgi_intercept_inherit_handler(MPI_COMM_WORLD, comm));
  PMPI_Comm_set_name(comm, "MPI_COMM_WORLD");
  return rgi_fault_world_set(comm);
}

/* Outside the reserve. No process goes on before all have the communicator, so that a death then is
 * no fault here. */
static int make_world(rg_group outside) {
  MPI_Comm comm;
  rg_group made;
  RGI_TRY(rg_group_comm(outside, &comm));
  outside->comm = MPI_COMM_NULL; /* the program's from now on */
  RGI_TRY(rgi_group_derive(outside, &made));
  RGI_TRY(set_world(comm, made));
  rg_barrier(outside);
  return RG_SUCCESS;
}

/* --- in reserve ------------------------------------------------------------------------------- */

/* The members of one side of the inter-communicator. */
static int members_of(MPI_Comm inter, int is_remote, rgi_members **members) {
  MPI_Group group;
  if ((is_remote ? PMPI_Comm_remote_group : PMPI_Comm_group)(inter, &group) != MPI_SUCCESS)
    return rgi_error(RG_ERR_NOMEM, "no memory for MPI's group");
  int error = rgi_fault_comm_members(group, members);
  PMPI_Group_free(&group);
  return error;
}

/* A spawned process's own communicators and arguments. */
static int settle(const meeting *with, MPI_Comm world, const char *text) {
  rg_group made;
  RGI_TRY(make_group(with, PART_SPAWNED, rgi_members_share(with->spawned), &made));
  made->creation_ids[0] = 0; /* the spawning's revocation is not this communicator's */
  RGI_TRY(set_world(world, made));
  RGI_TRY(rgi_intercept_inherit_handler(MPI_COMM_WORLD, with->inter));
  PMPI_Comm_set_name(with->inter, "MPI_COMM_PARENT");
  return rgi_fault_order_take(text, rgi_members_find(with->spawned, rgi_runtime.rank),
                              &spawning.appnum);
}

static int join_callers(const rg_acquisition *drawn) {
  meeting with = {.call = "MPI_Init", .inter = drawn->parent, .number = rgi_reserve_number()};
  order_text order = {0};
  int error = members_of(with.inter, 1, &with.callers);
  if (!error)
    error = members_of(with.inter, 0, &with.spawned);
  if (!error)
    error = meet_sides(&with, &order);
  if (!error)
    error = settle(&with, drawn->world, order.text);
  if (!error)
    error = rgi_reserve_confirm_await(with.call, with.callers, with.number);
  if (error)
    rgi_overlay_revoke(with.number);
  rgi_failure_scope_now = (rgi_failure_scope){0};
  rgi_members_drop(with.callers);
  rgi_members_drop(with.spawned);
  free(order.text);
  return error;
}

/* The job's end, or that of all who could spawn. */
static void end_unused(int error) {
  if (error)
    rgi_log(RGI_LOG_WARN, "a process in reserve ends: %s", rg_error_detail());
  MPI_Finalize();
  exit(error ? EXIT_FAILURE : EXIT_SUCCESS);
}

/* Until it is spawned. */
static void wait_in_reserve(void) {
  rg_acquisition drawn = {.size = sizeof drawn};
  do {
    int error = rg_reserve_park(&drawn);
    if (error || drawn.world == MPI_COMM_NULL)
      end_unused(error);
  } while (join_callers(&drawn));
  spawning.is_spawned = 1;
  spawning.parent = rgi_fault_comm_find(drawn.parent);
  rgi_fault_comm_use(spawning.parent); /* to find out that it is freed */
}

int rgi_fault_spawn_begin(void) {
  rg_group outside = NULL;
  int n = rgi_options_choice(RGI_OPT_RESERVE);
  if (n == 0)
    return RG_SUCCESS;
  RGI_TRY(rgi_fault_world_set(MPI_COMM_WORLD));
  RGI_TRY(rg_reserve_open(n, &outside));
  spawning.is_open = 1;
  spawning.size = rgi_runtime.size;
  if (!outside) {
    wait_in_reserve();
    return RG_SUCCESS;
  }
  int error = make_world(outside);
  rg_group_free(&outside);
  return error;
}

void rgi_fault_spawn_end(void) {
  if (spawning.is_open)
    rg_reserve_leave();
  spawning.is_open = 0;
}

/* --- the program's calls ---------------------------------------------------------------------- */

/* Of the root; on the others n is the root's, and the text that or the error's. */
typedef struct {
  int64_t error, n;
  order_text text;
} shared_order;

static void pack_order(const char *call, const rgi_fault_order *order, shared_order *shared) {
  int n = 0;
  size_t bytes = 0;
  shared->error = rgi_fault_order_pack(call, order, &n, &shared->text.text, &bytes);
  shared->n = n;
  shared->text.bytes = (int64_t)bytes;
  if (!shared->error)
    return;
  shared->text.text = strdup(rg_error_detail());
  shared->text.bytes = shared->text.text ? (int64_t)strlen(shared->text.text) : 0;
}

static int share_order(const char *call, rg_group g, int root, shared_order *shared) {
  int64_t words[] = {shared->error, shared->n};
  RGI_TRY(rg_bcast(g, words, 2, MPI_INT64_T, root));
  shared->error = words[0];
  shared->n = words[1];
  return share_text(call, g, root, &shared->text);
}

/* All have it, or those that have it get errors on it. A caller with an error does not vote, since
 * the others may wait for it where the sides meet: the number's revocation ends both. */
static int make_inter(rgi_fault_creation *made, rg_group g, shared_order *order, MPI_Comm *inter) {
  const rgi_reserve_request request = {
      .kind = RGI_RESERVE_SPAWN, .n = (int)order->n, .number = made->number};
  meeting with = {.call = made->call, .number = made->number, .callers = g->members};
  RGI_TRY(rgi_group_check_member(made->call, g)); /* the members' deaths end the waits */
  RGI_TRY(rgi_reserve_acquire(made->call, g, &request, &with.spawned));
  int error = rgi_inter_members_create(g->members, with.spawned, made->number, &with.inter);
  if (!error)
    error = meet_sides(&with, &order->text);
  if (!error)
    error = rgi_intercept_inherit_handler(made->parent->comm, with.inter);
  if (!error)
    error = rgi_fault_create_vote(made, RG_SUCCESS, NULL);
  if (!error)
    error = rgi_reserve_confirm(made->call, g, made->number, with.spawned);
  rgi_members_drop(with.spawned);
  *inter = with.inter;
  return error;
}

/* What the root refuses or the reserve has not all learn alike: nothing is revoked. */
static int spawn_together(rgi_fault_creation *made, int root, shared_order *order,
                          MPI_Comm *inter) {
  rg_group g;
  RGI_TRY(rgi_group_derive_part(made->parent->group, made->derivation, 0,
                                rgi_members_share(made->parent->group->members), &g));
  g->creation_ids[0] = made->number;
  g->creation_ids[1] = made->parent->group->context;
  int error = share_order(made->call, g, root, order);
  if (!error && order->error)
    error = rgi_error((int)order->error, "%s", order->text.text);
  else if (!error)
    error = make_inter(made, g, order, inter);
  rg_group_free(&g);
  if (error && error != RG_ERR_RESERVE && error != RG_ERR_ARG)
    rgi_overlay_revoke(made->number);
  return error;
}

/* The parent's failure as any call's, all else as MPI_ERR_SPAWN. */
static int raise_error(rgi_fault_comm *state, int root, int error) {
  char text[MPI_MAX_ERROR_STRING];
  snprintf(text, sizeof text, "regroup: %s", rg_error_detail());
  int failed = rgi_fault_comm_check(state, "MPI_Comm_spawn");
  if (failed && error != RG_ERR_RESERVE && error != RG_ERR_ARG)
    return rgi_intercept_raise(RGI_INTERCEPT_COUNT, state->comm, failed);
  if (state->group->me == root) /* a handler that returns has no text */
    rgi_log(RGI_LOG_WARN, "%s", text + strlen("regroup: "));
  return rgi_intercept_raise_code(state->comm, error == RG_ERR_ARG ? MPI_ERR_ARG : MPI_ERR_SPAWN,
                                  text);
}

static void set_codes(int codes[], int64_t n, int code) {
  for (int64_t i = 0; codes != MPI_ERRCODES_IGNORE && i < n; i++)
    codes[i] = code;
}

static int spawn(const char *call, const rgi_fault_order *order, int root, MPI_Comm comm,
                 MPI_Comm *inter, int codes[]) {
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  rgi_fault_creation made;
  shared_order shared = {0};
  if (!state || state->is_inter || root < 0 || root >= rgi_members_count(state->group->members))
    return rgi_intercept_raise_code(comm, state && !state->is_inter ? MPI_ERR_ROOT : MPI_ERR_COMM,
                                    "regroup: MPI_Comm_spawn: the communicator or the root");
  if (state->group->me == root)
    pack_order(call, order, &shared);
  int error = rgi_fault_create_begin(&made, state, call);
  if (!error)
    error = spawn_together(&made, root, &shared, inter);
  rgi_failure_scope_now = (rgi_failure_scope){0};
  rg_group_free(&made.votes);
  free(shared.text.text);
  set_codes(codes, shared.n, error ? MPI_ERR_SPAWN : MPI_SUCCESS);
  if (error)
    *inter = MPI_COMM_NULL;
  return error ? raise_error(state, root, error) : MPI_SUCCESS;
}

RG_API int MPI_Comm_spawn(const char *command, char *argv[], int most, MPI_Info info, int root,
                          MPI_Comm comm, MPI_Comm *inter, int codes[]) {
  if (!spawning.is_open)
    return RGI_INTERCEPT_NEXT(MPI_Comm_spawn)(command, argv, most, info, root, comm, inter, codes);
  char *name = (char *)(uintptr_t)command; /* it is not changed */
  const rgi_fault_order order = {1, &name, &argv, &most};
  return spawn(__func__, &order, root, comm, inter, codes);
}

RG_API int MPI_Comm_spawn_multiple(int count, char *commands[], char **argvs[], const int most[],
                                   const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm *inter,
                                   int codes[]) {
  if (!spawning.is_open)
    return RGI_INTERCEPT_NEXT(MPI_Comm_spawn_multiple)(count, commands, argvs, most, infos, root,
                                                       comm, inter, codes);
  const rgi_fault_order order = {count, commands, argvs, most};
  return spawn(__func__, &order, root, comm, inter, codes);
}

RG_API int MPI_Comm_get_parent(MPI_Comm *parent) {
  if (!spawning.is_spawned)
    return RGI_INTERCEPT_NEXT(MPI_Comm_get_parent)(parent);
  *parent = spawning.parent ? spawning.parent->comm : MPI_COMM_NULL;
  return MPI_SUCCESS;
}

void rgi_fault_spawn_forget(MPI_Comm comm) {
  if (!spawning.parent || spawning.parent->comm != comm)
    return;
  rgi_fault_comm_drop(spawning.parent);
  spawning.parent = NULL;
}

int *rgi_fault_spawn_attribute(int key) {
  return key == MPI_UNIVERSE_SIZE && spawning.size  ? &spawning.size
         : key == MPI_APPNUM && spawning.is_spawned ? &spawning.appnum
                                                    : NULL;
}
