/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Messages between nodes. A short one is a cell (message_mpi.c). The data of a long message follow
 * with an MPI tag of their own: in a job that survives by way of memory of the library's own
 * (message_staged.c), otherwise straight into the receiver's buffer, which is done here. */
#include "message/message_parts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "message/message_mpi.h"
#include "noded/client/overlay_client.h"
#include "progress/wait.h"
#include "runtime/runtime.h"
#include "shm/process.h"

static struct {
  rgi_message *active, **end; /* long messages under way that are not staged */
  int staged;
} remote;

#if MPI_VERSION >= 4
static int send_bytes(const rgi_message *message, int dest, int tag, MPI_Request *request) {
  return MPI_Isend_c(message->data, (MPI_Count)message->bytes, MPI_BYTE, dest, tag,
                     rgi_message_mpi_comm(), request);
}

static int receive_bytes(char *data, size_t n, int source, int tag, MPI_Request *request) {
  return MPI_Irecv_c(data, (MPI_Count)n, MPI_BYTE, source, tag, rgi_message_mpi_comm(), request);
}
#else
/* An older MPI counts in ints. */
static int send_bytes(const rgi_message *message, int dest, int tag, MPI_Request *request) {
  return message->bytes > INT_MAX ? MPI_ERR_COUNT
                                  : MPI_Isend(message->data, (int)message->bytes, MPI_BYTE, dest,
                                              tag, rgi_message_mpi_comm(), request);
}

static int receive_bytes(char *data, size_t n, int source, int tag, MPI_Request *request) {
  return n > INT_MAX
             ? MPI_ERR_COUNT
             : MPI_Irecv(data, (int)n, MPI_BYTE, source, tag, rgi_message_mpi_comm(), request);
}
#endif

void rgi_message_remote_open(void) {
  remote.active = NULL;
  remote.end = &remote.active;
  remote.staged = rgi_overlay_exists();
  rgi_message_staged_open();
}

void rgi_message_remote_close(void) {
  rgi_message_staged_close();
}

static int send_long(rgi_message *message, const rgi_message_envelope *envelope) {
  int dest = message->source;
  rgi_message_cell_remote_rts what = {.data_tag = rgi_message_mpi_new_tag(), .sent = -1};
  if (remote.staged)
    RGI_TRY(rgi_message_staged_prepare(message, what.data_tag));
  int error = rgi_message_mpi_send_cell(dest, RGI_MESSAGE_REMOTE_RTS, envelope, &what, sizeof what);
  if (remote.staged) {
    rgi_message_staged_start(message, error);
    return error;
  }
  RGI_TRY(error);
  rgi_message_append(message, &remote.end, RGI_MESSAGE_ACTIVE);
  if (send_bytes(message, dest, what.data_tag, &message->mpi) != MPI_SUCCESS)
    message->error = RG_ERR_MPI;
  return RG_SUCCESS;
}

int rgi_message_remote_has_room(int dest) {
  return rgi_message_mpi_has_room(dest) || rgi_process_is_dead(dest);
}

int rgi_message_remote_send(rgi_message *message) {
  const rgi_message_envelope envelope = {.context = message->context,
                                         .peer = rgi_runtime.rank,
                                         .tag = message->tag,
                                         .bytes = message->bytes};
  if (rgi_process_is_dead(message->source)) {
    atomic_store_explicit(&message->done, message->bytes <= RGI_MESSAGE_MPI_EAGER,
                          memory_order_release);
    return RG_SUCCESS;
  }
  if (message->bytes > RGI_MESSAGE_MPI_EAGER)
    return send_long(message, &envelope);
  RGI_TRY(rgi_message_mpi_send_cell(message->source, RGI_MESSAGE_EAGER, &envelope, message->data,
                                    message->bytes));
  atomic_store_explicit(&message->done, 1, memory_order_release);
  return RG_SUCCESS;
}

void rgi_message_remote_accept(rgi_message *message, rgi_message_cell *cell) {
  char *to = message->data;
  size_t n = message->bytes;
  rgi_message_cell_remote_rts what;
  memcpy(&what, rgi_message_cell_data(cell), sizeof what);
  rgi_message_cell_give(cell);
  if (remote.staged) {
    rgi_message_staged_accept(message, &what);
    return;
  }
  if (n > message->room && (message->own = malloc(n)))
    to = message->own;
  else if (n > message->room)
    n = message->room; /* MPI truncates as well */
  rgi_message_append(message, &remote.end, RGI_MESSAGE_ACTIVE);
  if (receive_bytes(to, n, message->source, what.data_tag, &message->mpi) != MPI_SUCCESS)
    message->error = RG_ERR_MPI;
}

static int error_class_of(int code) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS)
    MPI_Error_class(code, &class);
  return class;
}

/* Returns 0 if message is not complete; it is put behind the others then. */
static int progress_message(rgi_message *message) {
  int over = 0, class = error_class_of(rgi_wait_mpi_test(&message->mpi, &over));
  rgi_message_remove(message, &remote.end);
  if (class == MPI_SUCCESS && !over) {
    rgi_message_append(message, &remote.end, RGI_MESSAGE_ACTIVE);
    return 0;
  }
  if (class != MPI_SUCCESS && class != MPI_ERR_TRUNCATE)
    message->error = RG_ERR_MPI;
  if (message->own && message->room)
    memcpy(message->data, message->own, message->room);
  rgi_message_finish(message, RG_SUCCESS);
  return 1;
}

void rgi_message_remote_progress(void) {
  rgi_message *back = NULL;
  for (int i = 0; i < RGI_MESSAGE_MPI_TESTS && remote.active && remote.active != back; i++) {
    rgi_message *message = remote.active;
    if (!progress_message(message) && !back)
      back = message;
  }
  rgi_message_staged_progress();
}

void rgi_message_remote_abandon(rgi_message *message) {
  int over = 0;
  if (message->staged) {
    rgi_message_staged_abandon(message);
    return;
  }
  if (message->mpi != MPI_REQUEST_NULL && !message->sending)
    MPI_Cancel(&message->mpi);
  rgi_wait_mpi_test(&message->mpi, &over);
  if (!over) {
    MPI_Request_free(&message->mpi);
    message->own = NULL;
    message->left = 1;
  }
  rgi_message_remove(message, &remote.end);
  rgi_message_finish(message, RG_ERR_TIMEOUT);
}
