/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "message/message_list.h"

#include <stdlib.h>

#include "runtime/runtime.h"
#include "shm/node.h"

atomic_int rgi_message_under_way;

void rgi_message_append(rgi_message *r, rgi_message ***end, rgi_message_state state) {
  r->next = NULL;
  r->link = *end;
  **end = r;
  *end = &r->next;
  r->state = state;
}

void rgi_message_remove(rgi_message *r, rgi_message ***end) {
  *r->link = r->next;
  if (r->next)
    r->next->link = r->link;
  else if (end)
    *end = r->link;
  r->state = RGI_MESSAGE_IDLE;
}

void rgi_message_finish(rgi_message *r, int error) {
  free(r->own);
  r->own = NULL;
  if (error)
    r->error = error;
  atomic_store_explicit(&r->done, 1, memory_order_release);
  if (rgi_runtime.threads) /* another thread may sleep until r is done */
    rgi_node_ring(rgi_node.me);
}
