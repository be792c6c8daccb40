/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "counters.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

static atomic_long messages;

/* UCX's own function of this name, found at the first call. */
static void *ucx(_Atomic(void *) *known, const char *name) {
  void *f = atomic_load_explicit(known, memory_order_relaxed);
  if (!f) {
    f = dlsym(RTLD_NEXT, name);
    if (!f) {
      fprintf(stderr, "regroup-bench: MPI called %s, but there is none behind it\n", name);
      abort();
    }
    atomic_store_explicit(known, f, memory_order_relaxed);
  }
  atomic_fetch_add_explicit(&messages, 1, memory_order_relaxed);
  return f;
}

/* The types of UCX 1.x, as far as the calling convention needs them. */
typedef void *tag_send(void *, const void *, size_t, uint64_t, const void *);
typedef void *am_send(void *, unsigned, const void *, size_t, const void *, size_t, const void *);
typedef void *am_send_old(void *, uint16_t, const void *, size_t, uint64_t, void *, unsigned);
EXPORT tag_send ucp_tag_send_nbx, ucp_tag_send_sync_nbx;
EXPORT am_send ucp_am_send_nbx;
EXPORT am_send_old ucp_am_send_nb;

void *ucp_tag_send_nbx(void *ep, const void *buffer, size_t count, uint64_t tag,
                       const void *param) {
  static _Atomic(void *) known;
  tag_send *f = (tag_send *)ucx(&known, __func__);
  return f(ep, buffer, count, tag, param);
}

void *ucp_tag_send_sync_nbx(void *ep, const void *buffer, size_t count, uint64_t tag,
                            const void *param) {
  static _Atomic(void *) known;
  tag_send *f = (tag_send *)ucx(&known, __func__);
  return f(ep, buffer, count, tag, param);
}

void *ucp_am_send_nbx(void *ep, unsigned id, const void *header, size_t header_length,
                      const void *buffer, size_t count, const void *param) {
  static _Atomic(void *) known;
  am_send *f = (am_send *)ucx(&known, __func__);
  return f(ep, id, header, header_length, buffer, count, param);
}

void *ucp_am_send_nb(void *ep, uint16_t id, const void *payload, size_t count, uint64_t datatype,
                     void *callback, unsigned flags) {
  static _Atomic(void *) known;
  am_send_old *f = (am_send_old *)ucx(&known, __func__);
  return f(ep, id, payload, count, datatype, callback, flags);
}

long bench_messages(void) {
  return atomic_load_explicit(&messages, memory_order_relaxed);
}

int bench_messages_counted(MPI_Comm comm) {
  int rank, size, mine = 0, got, all;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (size == 1)
    return 0;
  long before = bench_messages();
  MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, (rank + size - 1) % size,
               0, comm, MPI_STATUS_IGNORE);
  mine = bench_messages() - before == 1;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, comm);
  return all;
}
