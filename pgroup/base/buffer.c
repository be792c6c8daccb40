/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_BYTES ((size_t)256 << 10)

char *rgi_buffer_room(rgi_buffer *b, size_t bytes) {
  if (b->begin == b->end)
    b->begin = b->end = 0;
  if (b->end + bytes <= b->room)
    return b->data + b->end;
  if (b->begin) {
    memmove(b->data, b->data + b->begin, rgi_buffer_pending(b));
    b->end -= b->begin;
    b->begin = 0;
  }
  if (b->end + bytes > b->room) {
    size_t room = 2 * (b->end + bytes);
    char *data = realloc(b->data, room);
    if (!data)
      return NULL;
    b->data = data;
    b->room = room;
  }
  return b->data + b->end;
}

void rgi_buffer_take(rgi_buffer *b, size_t bytes) {
  b->begin += bytes;
  if (!rgi_buffer_pending(b) && b->room > KEPT_BYTES)
    rgi_buffer_free(b);
}

void rgi_buffer_free(rgi_buffer *b) {
  free(b->data);
  *b = (rgi_buffer){0};
}
