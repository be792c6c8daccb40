/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Start and stop of the engine with the library. The heap comes first, then the transport over
 * it: the node daemons in a job that survives, else ARMCI's window. An error of one process is
 * an error of all. What is one call of the transport is here, too.
 *
 * A static library gives a program only the objects that it names, and nothing names the
 * constructor at the end: it must stand in one file with functions that every use of the
 * heap needs, such as rgi_engine_settle. */
#include "engine/engine.h"

#include "base/error.h"
#include "base/options.h"
#include "engine/heap.h"
#include "engine/rma.h"
#include "engine/transport.h"
#include "noded/client/overlay_client.h"
#include "progress/mpi_error.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "shm/node.h"

const rgi_transport *rgi_engine_transport;
int64_t rgi_engine_most;

void rgi_engine_progress(void) {
  if (rgi_heap.open)
    rgi_engine_transport->progress();
}

int rgi_engine_settle(int target, uint64_t offset, uint64_t bytes) {
  return rgi_engine_transport->settle(target, offset, offset + bytes);
}

int rgi_engine_fence(int target) {
  return rgi_heap.open ? rgi_engine_transport->fence(target) : RG_SUCCESS;
}

int rgi_engine_finish(void) {
  return rgi_heap.open ? rgi_engine_transport->finish() : RG_SUCCESS;
}

int rgi_engine_lost(int target) {
  return rgi_engine_transport->lost(target);
}

int rgi_engine_word(const rgi_transfer_word *word, int64_t *before) {
  return rgi_engine_transport->word(word, before);
}

/* --- start ----------------------------------------------------------------------- */

static size_t part_size(void) {
  return rgi_node.count > 1 ? (size_t)rgi_options_value(RGI_OPT_ARRAY_SHARE) << 20 : 0;
}

/* All processes return an error if one has one. */
static int share_error(int error) {
  return rgi_mpi_error_share(rgi_runtime.comm, "rg_init", error);
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
  rgi_heap_close();
  rgi_engine_transport->close();
  rgi_engine_transport = NULL;
}

static int start_transport(void) {
  int error = share_error(rgi_engine_transport->start());
  if (error)
    rgi_engine_transport->stop(1);
  return error;
}

static int open_engine(void) {
  if (rgi_node.count == 1)
    return RG_SUCCESS;
  RGI_TRY(agree_on_size());
  rgi_engine_transport = rgi_overlay_exists() ? &rgi_transport_daemon : &rgi_rma_transport;
  rgi_engine_most = rgi_engine_transport->most;
  int error = rgi_engine_transport->open();
  if (!error)
    error = rgi_heap_open(part_size());
  error = share_error(error);
  if (!error)
    error = start_transport();
  if (error)
    free_memory();
  return error;
}

static void close_engine(int mpi) {
  if (!rgi_heap.open)
    return;
  rgi_engine_transport->stop(mpi);
  free_memory();
}

__attribute__((constructor)) static void register_engine(void) {
  static rgi_module engine = {.name = "arrays",
                              .stage = RGI_MODULE_TRANSPORT,
                              .heap = part_size,
                              .open = open_engine,
                              .close = close_engine};
  rgi_module_register(&engine);
}
