/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * rg_inter_start and rg_inter_end: the communicators of the view (world, benchmark, local,
 * global), for each kind: none, split, spawn, connect.
 *
 * The two sides of the inter-communicator are the initiators and the responders. Split: the world
 * is divided. Spawn: the initiators start the responders. Connect: they start a server, which
 * sends them the name of its port; both disconnect and meet again through the port. Then the
 * sides are merged into the global communicator, initiators first. */
#include <regroup/comm.h>
#include <stdio.h>

#include "base/error.h"
#include "base/sized.h"
#include "base/spare.h"
#include "intercomm/inter_state.h"
#include "intercomm/spawn.h"
#include "progress/mpi_error.h"
#include "progress/wait.h"
#include "runtime/runtime.h"

static const char *const call = "rg_inter_start";

/* Of the messages and communicators made here, over a duplicate of the world. */
#define TAG 1

/* --- split ------------------------------------------------------------------------ */

static int is_responder_rank(const rg_inter_options *how, int rank, int size) {
  return how->n ? rank >= size - how->n : rank % 2;
}

/* The two sides as groups: the caller's own one and the other. */
static int find_sides(const rg_inter_options *how, MPI_Comm world, MPI_Group *mine,
                      MPI_Group *other) {
  int rank, size, n = 0;
  MPI_Group all;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  int *ranks = rgi_spare_alloc((size_t)size * sizeof *ranks),
      side = is_responder_rank(how, rank, size);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call, size);
  for (int i = 0; i < size; i++)
    if (is_responder_rank(how, i, size) == side)
      ranks[n++] = i;
  MPI_Comm_group(world, &all);
  MPI_Group_incl(all, n, ranks, mine);
  MPI_Group_excl(all, n, ranks, other);
  MPI_Group_free(&all);
  rgi_spare_free(ranks);
  return RG_SUCCESS;
}

static int split_world(const rg_inter_options *how, MPI_Comm setup, rg_inter_view *view) {
  MPI_Group mine, other;
  int rank, size;
  RGI_TRY(find_sides(how, setup, &mine, &other));
  int error = rg_comm_create_group(setup, mine, TAG, RG_METHOD_AUTO, &view->local);
  if (!error)
    error = rg_intercomm_create_group(setup, mine, other, TAG, RG_METHOD_AUTO, &view->benchmark);
  MPI_Group_free(&mine);
  MPI_Group_free(&other);
  MPI_Comm_rank(setup, &rank);
  MPI_Comm_size(setup, &size);
  view->is_initiator = !is_responder_rank(how, rank, size);
  return error;
}

/* --- spawn and connect ------------------------------------------------------------ */

/* The option that the program was started with, and the program's arguments after it. */
static char **child_arguments(const rg_inter_options *how, char option[64]) {
  int n = 0;
  while (how->argv && how->argv[n])
    n++;
  char **argv = rgi_spare_alloc_zeroed((size_t)n + 2, sizeof *argv);
  if (!argv)
    return NULL;
  snprintf(option, 64, "--%s=%d", rg_inter_kind_name(how->kind), how->n);
  argv[0] = option;
  for (int i = 1; i < n; i++)
    argv[i] = how->argv[i];
  return argv;
}

static int spawn_processes(const rg_inter_options *how, MPI_Comm setup, MPI_Comm *inter) {
  char option[64], **argv = child_arguments(how, option);
  const char *command = how->argv && how->argv[0] ? how->argv[0] : "/proc/self/exe";
  if (!argv)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for the arguments", call);
  const rgi_spawn_order order = {command, argv, how->n};
  int error = rgi_spawn_backend_now()->spawn(call, setup, &order, inter);
  rgi_spare_free(argv);
  return error;
}

static int receive_port(MPI_Comm server, char port[MPI_MAX_PORT_NAME]) {
  MPI_Request request;
  RGI_TRY_MPI(MPI_Irecv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, TAG, server, &request));
  RGI_TRY(rgi_wait_request(&request, call, -1));
  return port[0] ? RG_SUCCESS : rgi_error(RG_ERR_UNSUPPORTED, "%s: the server has no port", call);
}

static int start_client(const rg_inter_options *how, MPI_Comm setup, MPI_Comm *inter) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm server;
  int rank, error = RG_SUCCESS;
  RGI_TRY(spawn_processes(how, setup, &server));
  MPI_Comm_set_errhandler(server, MPI_ERRORS_RETURN);
  MPI_Comm_rank(setup, &rank);
  if (rank == 0)
    error = receive_port(server, port);
  error = rgi_mpi_error_share(setup, call, error);
  MPI_Comm_disconnect(&server);
  return error ? error : rgi_spawn_backend_now()->connect(call, port, setup, inter);
}

static int start_server(MPI_Comm setup, MPI_Comm client, MPI_Comm *inter) {
  const rgi_spawn_backend *l = rgi_spawn_backend_now();
  char port[MPI_MAX_PORT_NAME] = "";
  int rank, error = RG_SUCCESS;
  MPI_Comm_rank(setup, &rank);
  if (rank == 0) {
    error = l->open_port(call, port);
    if (error)
      port[0] = '\0';
    MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, TAG, client);
  }
  error = rgi_mpi_error_share(setup, call, error);
  MPI_Comm_disconnect(&client);
  RGI_TRY(error);
  error = l->accept(call, port, setup, inter);
  if (rank == 0)
    l->close_port(port);
  return error;
}

/* --- all kinds -------------------------------------------------------------------- */

static int build_comms(const rg_inter_options *how, MPI_Comm setup, MPI_Comm parent,
                       rg_inter_view *view) {
  int child = parent != MPI_COMM_NULL;
  if (child)
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
  if (how->kind == RG_INTER_SPLIT && !child)
    return split_world(how, setup, view);
  view->local = view->world;
  view->is_initiator = !child;
  if (how->kind == RG_INTER_CONNECT)
    return child ? start_server(setup, parent, &view->benchmark)
                 : start_client(how, setup, &view->benchmark);
  if (child)
    view->benchmark = parent;
  return child ? RG_SUCCESS : spawn_processes(how, setup, &view->benchmark);
}

/* The initiators first. */
static int merge_sides(rg_inter_view *view) {
  MPI_Comm_set_errhandler(view->benchmark, MPI_ERRORS_RETURN);
  RGI_TRY_MPI(MPI_Intercomm_merge(view->benchmark, !view->is_initiator, &view->global));
  return rgi_inter_state_set_role(view->benchmark, view->is_initiator);
}

/* The application uses these communicators: they get the world's error handler. */
static void hand_over(const rg_inter_view *view) {
  MPI_Comm made[] = {view->benchmark, view->local, view->global};
  MPI_Errhandler handler;
  MPI_Comm_get_errhandler(view->world, &handler);
  for (int i = 0; i < 3; i++)
    if (made[i] != view->world)
      MPI_Comm_set_errhandler(made[i], handler);
  MPI_Errhandler_free(&handler);
}

static int construct_view(const rg_inter_options *how, MPI_Comm parent, rg_inter_view *view) {
  MPI_Comm setup;
  RGI_TRY(rgi_startup_dup(view->world, &setup));
  int error = build_comms(how, setup, parent, view);
  if (!error)
    error = merge_sides(view);
  MPI_Comm_free(&setup);
  if (error)
    rgi_inter_state_free_view(view, 0);
  else
    hand_over(view);
  return error;
}

static int start_inter(const rg_inter_options *how, rgi_inter_state *state) {
  rg_inter_view *view = &state->view;
  *view = (rg_inter_view){.size = sizeof *view,
                          .kind = how->kind,
                          .world = state->startup.world,
                          .benchmark = MPI_COMM_NULL,
                          .local = MPI_COMM_NULL,
                          .global = MPI_COMM_NULL};
  if (view->world != MPI_COMM_NULL &&
      (how->kind != RG_INTER_NONE || state->startup.parent != MPI_COMM_NULL)) {
    view->kind = state->startup.parent != MPI_COMM_NULL && how->kind != RG_INTER_CONNECT
                     ? RG_INTER_SPAWN
                     : how->kind;
    RGI_TRY(construct_view(how, state->startup.parent, view));
  } else {
    view->benchmark = view->local = view->global = view->world;
  }
  return rgi_inter_state_keep(call, state);
}

int rg_inter_start(const rg_inter_options *how, int *part) {
  rg_inter_options own = {.size = sizeof own, .kind = RG_INTER_NONE};
  rgi_inter_state state;
  RGI_REQUIRE(part);
  if (how)
    RGI_TRY(rgi_sized_take(&own, sizeof own, how, "rg_inter_start: how"));
  RGI_TRY(rgi_runtime_check_mpi(call));
  if (rgi_inter_state_now())
    return rgi_error(RG_ERR_INIT, "%s: called again: call rg_inter_end first", call);
  RGI_TRY(rgi_startup_enter(call, &own, &state.startup));
  int error = start_inter(&own, &state);
  if (error) {
    rgi_startup_end(&state.startup);
    return error;
  }
  *part = state.view.world != MPI_COMM_NULL;
  return RG_SUCCESS;
}

int rg_inter_end(void) {
  RGI_TRY(rgi_runtime_check_mpi(__func__));
  return rgi_inter_state_now() ? rgi_inter_state_drop() : RG_SUCCESS;
}
