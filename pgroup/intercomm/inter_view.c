/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Queries about the communicators in use: each fills a whole view from the state and returns a
 * part of it. Without rg_inter_start the view is MPI_COMM_WORLD and no inter-communicator. */
#include <strings.h>

#include "base/error.h"
#include "base/sized.h"
#include "intercomm/inter_state.h"
#include "runtime/runtime.h"

static int64_t least_common_multiple(int64_t a, int64_t b) {
  int64_t x = a, y = b;
  while (y) {
    int64_t rest = x % y;
    x = y;
    y = rest;
  }
  return a / x * b;
}

static void count_processes(rg_inter_view *view) {
  MPI_Comm_size(view->benchmark, &view->local_size);
  view->remote_size = view->local_size;
  if (view->is_inter)
    MPI_Comm_remote_size(view->benchmark, &view->remote_size);
  view->initiator_size = view->is_initiator ? view->local_size : view->remote_size;
  view->responder_size = view->is_initiator ? view->remote_size : view->local_size;
  view->larger_size = view->local_size > view->remote_size ? view->local_size : view->remote_size;
  MPI_Comm_size(view->global, &view->global_size);
  view->combined_size = least_common_multiple(view->local_size, view->remote_size);
  view->maximum_size =
      view->is_inter ? (int64_t)view->local_size * view->remote_size : view->local_size;
}

static int get_view(const char *call, rg_inter_view *view) {
  RGI_TRY(rgi_runtime_check_mpi(call));
  const rgi_inter_state *state = rgi_inter_state_now();
  *view = state ? state->view
                : (rg_inter_view){.size = sizeof *view,
                                  .kind = RG_INTER_NONE,
                                  .world = MPI_COMM_WORLD,
                                  .benchmark = MPI_COMM_WORLD,
                                  .local = MPI_COMM_WORLD,
                                  .global = MPI_COMM_WORLD};
  if (view->world == MPI_COMM_NULL)
    return rgi_error(RG_ERR_GROUP, "%s: this process of the reserve takes no part", call);
  view->is_inter = view->benchmark != view->world;
  view->is_initiator = !view->is_inter || rgi_inter_state_is_initiator(view->benchmark);
  view->is_responder = !view->is_inter || !view->is_initiator;
  MPI_Comm_rank(view->benchmark, &view->rank);
  MPI_Comm_rank(view->global, &view->global_rank);
  count_processes(view);
  view->io = view->is_initiator && view->rank == 0;
  return RG_SUCCESS;
}

int rg_inter_get_view(rg_inter_view *view) {
  rg_inter_view v;
  RGI_TRY(rgi_sized_check(view, "rg_inter_get_view: view"));
  RGI_TRY(get_view(__func__, &v));
  return rgi_sized_give(view, &v, sizeof v, "rg_inter_get_view: view");
}

/* rg_inter_<name>: one part of the view. */
#define DEFINE_QUERY(type, name, part)                                                             \
  int rg_inter_##name(type *part) {                                                                \
    rg_inter_view view;                                                                            \
    RGI_REQUIRE(part);                                                                             \
    RGI_TRY(get_view(__func__, &view));                                                            \
    *part = view.part;                                                                             \
    return RG_SUCCESS;                                                                             \
  }

DEFINE_QUERY(MPI_Comm, world, world)
DEFINE_QUERY(MPI_Comm, benchmark, benchmark)
DEFINE_QUERY(MPI_Comm, local, local)
DEFINE_QUERY(MPI_Comm, global, global)
DEFINE_QUERY(int, is_inter, is_inter)
DEFINE_QUERY(rg_inter_kind, get_kind, kind)
DEFINE_QUERY(int, is_initiator, is_initiator)
DEFINE_QUERY(int, is_responder, is_responder)
DEFINE_QUERY(int, io, io)
DEFINE_QUERY(int, rank, rank)
DEFINE_QUERY(int, global_rank, global_rank)
DEFINE_QUERY(int, initiator_size, initiator_size)
DEFINE_QUERY(int, responder_size, responder_size)
DEFINE_QUERY(int, local_size, local_size)
DEFINE_QUERY(int, remote_size, remote_size)
DEFINE_QUERY(int, larger_size, larger_size)
DEFINE_QUERY(int, global_size, global_size)
DEFINE_QUERY(int64_t, combined_size, combined_size)
DEFINE_QUERY(int64_t, maximum_size, maximum_size)

int rg_inter_has_initiator_rank(int rank, int *flag) {
  rg_inter_view view;
  RGI_REQUIRE(flag);
  RGI_TRY(get_view(__func__, &view));
  *flag = view.is_initiator && view.rank == rank;
  return RG_SUCCESS;
}

int rg_inter_has_responder_rank(int rank, int *flag) {
  rg_inter_view view;
  RGI_REQUIRE(flag);
  RGI_TRY(get_view(__func__, &view));
  *flag = view.is_responder && view.rank == rank;
  return RG_SUCCESS;
}

static int check_rank(const char *call, int rank, int size, const char *where) {
  return rank >= 0 && rank < size
             ? RG_SUCCESS
             : rgi_error(RG_ERR_RANK, "%s: rank %d; ranks of %s go from 0 to %d", call, rank, where,
                         size - 1);
}

int rg_inter_root(int initiator_rank, int *root) {
  rg_inter_view view;
  RGI_REQUIRE(root);
  RGI_TRY(get_view(__func__, &view));
  RGI_TRY(check_rank(__func__, initiator_rank, view.initiator_size, "the initiators"));
  if (view.is_responder)
    *root = initiator_rank;
  else
    *root = view.rank == initiator_rank ? MPI_ROOT : MPI_PROC_NULL;
  return RG_SUCCESS;
}

/* The view, and whether the process of this rank in global is an initiator. */
static int get_view_of_rank(const char *call, int global_rank, rg_inter_view *view,
                            int *initiator) {
  RGI_TRY(get_view(call, view));
  RGI_TRY(check_rank(call, global_rank, view->global_size, "the global communicator"));
  *initiator = global_rank < view->initiator_size;
  return RG_SUCCESS;
}

int rg_inter_lookup_global_rank(int initiator_rank, int *global_rank) {
  rg_inter_view view;
  RGI_REQUIRE(global_rank);
  RGI_TRY(get_view(__func__, &view));
  RGI_TRY(check_rank(__func__, initiator_rank, view.initiator_size, "the initiators"));
  *global_rank = initiator_rank; /* the initiators come first */
  return RG_SUCCESS;
}

/* rg_inter_lookup_<name>: something about the process of this rank in global. */
#define DEFINE_LOOKUP(name, out, value)                                                            \
  int rg_inter_lookup_##name(int global_rank, int *out) {                                          \
    rg_inter_view view;                                                                            \
    int initiator;                                                                                 \
    RGI_REQUIRE(out);                                                                              \
    RGI_TRY(get_view_of_rank(__func__, global_rank, &view, &initiator));                           \
    *out = value;                                                                                  \
    return RG_SUCCESS;                                                                             \
  }

DEFINE_LOOKUP(rank, rank, initiator ? global_rank : global_rank - view.initiator_size)
DEFINE_LOOKUP(is_initiator, flag, initiator)
DEFINE_LOOKUP(is_responder, flag, !view.is_inter || !initiator)
DEFINE_LOOKUP(local_size, size, initiator ? view.initiator_size : view.responder_size)
DEFINE_LOOKUP(remote_size, size, initiator ? view.responder_size : view.initiator_size)

int rg_inter_check(const char *operation) {
  static const char *const excluded[] = {"scan",    "exscan",    "iscan",
                                         "iexscan", "scan_init", "exscan_init"};
  rg_inter_view view;
  RGI_REQUIRE(operation);
  RGI_TRY(get_view(__func__, &view));
  const char *name = strncasecmp(operation, "MPI_", 4) == 0 ? operation + 4 : operation;
  for (size_t i = 0; view.is_inter && i < sizeof excluded / sizeof excluded[0]; i++)
    if (strcasecmp(name, excluded[i]) == 0)
      return rgi_error(RG_ERR_UNSUPPORTED,
                       "%s is left out: MPI does not define it for inter-communicators (--%s)",
                       operation, rg_inter_kind_name(view.kind));
  return RG_SUCCESS;
}
