/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "message/message_list.h"

#include <stdlib.h>

#include "runtime/runtime.h"
#include "shm/node.h"

atomic_int rgi_message_under_way;

void rgi_message_append(rgi_message *message, rgi_message ***end, rgi_message_state state) {
  message->next = NULL;
  message->link = *end;
  **end = message;
  *end = &message->next;
  message->state = state;
}

void rgi_message_remove(rgi_message *message, rgi_message ***end) {
  *message->link = message->next;
  if (message->next)
    message->next->link = message->link;
  else if (end)
    *end = message->link;
  message->state = RGI_MESSAGE_IDLE;
}

void rgi_message_finish(rgi_message *message, int error) {
  free(message->own);
  message->own = NULL;
  if (error)
    message->error = error;
  atomic_store_explicit(&message->done, 1, memory_order_release);
  if (rgi_runtime.threads) /* another thread may sleep until message is done */
    rgi_node_ring(rgi_node.me);
}
