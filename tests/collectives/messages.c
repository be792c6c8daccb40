/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "messages.h"

#include <mpi.h>
#include <stdatomic.h>

#include "message/message.h"
#include "shm/node.h"

static atomic_long inside, between;

int __real_rgi_message_send(const rgi_message_envelope *to, const void *data, rgi_message *r);
int __wrap_rgi_message_send(const rgi_message_envelope *to, const void *data, rgi_message *r);

int __wrap_rgi_message_send(const rgi_message_envelope *to, const void *data,
                            rgi_message *message) {
  atomic_fetch_add(rgi_node_find(to->peer) >= 0 ? &inside : &between, 1);
  return __real_rgi_message_send(to, data, message);
}

messages_sent messages_count(void) {
  return (messages_sent){atomic_load(&inside), atomic_load(&between)};
}

long messages_between_all(void) {
  long mine = messages_count().between, all;
  MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}
