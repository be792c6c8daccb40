/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Start and stop of the engine with the library. The heap comes first, then the transport over
 * it: the node daemons in a job that survives, else ARMCI's window. An error of one process is
 * an error of all.
 *
 * A static library gives a program only the objects that it names, and nothing names the
 * constructor at the end: it must stand in one file with functions that every use of the
 * heap needs, such as rgi_engine_settle. */
#include "engine/engine.h"

#include <armcix.h>
#include <regroup/polite.h>

#include "base/error.h"
#include "base/options.h"
#include "engine/daemon_transport.h"
#include "engine/heap.h"
#include "engine/rma.h"
#include "noded/overlay_client.h"
#include "progress/mpi_error.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "shm/node.h"

/* Bytes of one transfer, by transport. A node daemon keeps as much for each process. */
#define RMA_MOST ((int64_t)1 << 30)
#define DAEMON_MOST ((int64_t)1 << 20)

void rgi_engine_progress(void) {
  if (!rgi_heap.open)
    return;
  if (rgi_daemon_transport_is_used()) {
    rgi_daemon_transport_progress();
    return;
  }
  rg_polite_polling(1); /* a look, not a wait: no pause inside MPI */
  ARMCIX_Progress();
  rg_polite_polling(0);
}

/* The node daemons' operations on memory of this node are complete when they return. */
int rgi_engine_settle(int target, uint64_t offset, uint64_t bytes) {
  if (rgi_daemon_transport_is_used())
    return RG_SUCCESS;
  return rgi_rma_before(target, RGI_TRANSFER_GET, offset, offset + bytes);
}

int rgi_engine_fence(int target) {
  if (!rgi_heap.open)
    return RG_SUCCESS;
  return rgi_daemon_transport_is_used() ? rgi_daemon_transport_fence(target)
                                        : rgi_rma_fence(target);
}

int rgi_engine_lost(int target) {
  return rgi_daemon_transport_is_used() && rgi_daemon_transport_lost(target);
}

/* --- start ----------------------------------------------------------------------- */

static size_t part_size(void) {
  return rgi_node.count > 1 ? (size_t)rgi_options_value(RGI_OPT_ARRAY_SHARE) << 20 : 0;
}

/* All processes return an error if one has one. */
static int agree_on_error(int error) {
  int worst = error;
  RGI_TRY_MPI(MPI_Allreduce(&error, &worst, 1, MPI_INT, MPI_MAX, rgi_runtime.comm));
  if (worst && !error)
    return rgi_error(worst, "rg_init: another process could not start ARMCI: %s",
                     rg_error_string(worst));
  return error;
}

static int agree_on_size(void) {
  long long size = (long long)part_size(), mine[2] = {size, -size}, all[2];
  RGI_TRY_MPI(MPI_Allreduce(mine, all, 2, MPI_LONG_LONG, MPI_MAX, rgi_runtime.comm));
  if (all[0] == -all[1])
    return RG_SUCCESS;
  return rgi_error(RG_ERR_OPTION,
                   "RG_ARRAY_SHARE is not the same on all processes: %lld to %lld "
                   "MiB",
                   -all[1] >> 20, all[0] >> 20);
}

static void free_memory(void) {
  rgi_rma_close();
  rgi_heap_close();
}

static int take_memory(void) {
  RGI_TRY(rgi_rma_open());
  return rgi_heap_open(part_size());
}

static int start_transport(void) {
  if (rgi_overlay_exists()) {
    rgi_transfer_most = DAEMON_MOST;
    return agree_on_error(rgi_daemon_transport_open());
  }
  rgi_transfer_most = RMA_MOST;
  int error = agree_on_error(rgi_rma_start());
  if (error)
    rgi_rma_stop();
  return error;
}

static int open_engine(void) {
  if (rgi_node.count == 1)
    return RG_SUCCESS;
  RGI_TRY(agree_on_size());
  int error = rgi_overlay_exists() ? RG_SUCCESS : agree_on_error(rgi_rma_check_world());
  if (error)
    return error;
  error = agree_on_error(take_memory());
  if (!error)
    error = start_transport();
  if (error) {
    free_memory();
    return error;
  }
  if (!rgi_daemon_transport_is_used())
    rgi_rma_thread_start();
  return RG_SUCCESS;
}

static void close_engine(int mpi) {
  if (!rgi_heap.open)
    return;
  rgi_rma_thread_stop();
  rgi_heap_close();
  rgi_engine_end_given_up(mpi);
  if (mpi && !rgi_daemon_transport_is_used())
    rgi_rma_stop();
  rgi_daemon_transport_close();
  rgi_rma_close();
}

__attribute__((constructor)) static void register_engine(void) {
  static rgi_module engine = {.name = "arrays",
                              .stage = RGI_MODULE_TRANSPORT,
                              .heap = part_size,
                              .open = open_engine,
                              .close = close_engine};
  rgi_module_register(&engine);
}
