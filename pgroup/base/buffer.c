/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "base/buffer.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_BYTES ((size_t)256 << 10)

char *rgi_buffer_room(rgi_buffer *buffer, size_t bytes) {
  if (buffer->begin == buffer->end)
    buffer->begin = buffer->end = 0;
  if (buffer->end + bytes <= buffer->room)
    return buffer->data + buffer->end;
  if (buffer->begin) {
    memmove(buffer->data, buffer->data + buffer->begin, rgi_buffer_pending(buffer));
    buffer->end -= buffer->begin;
    buffer->begin = 0;
  }
  if (buffer->end + bytes > buffer->room) {
    size_t room = 2 * (buffer->end + bytes);
    char *data = realloc(buffer->data, room);
    if (!data)
      return NULL;
    buffer->data = data;
    buffer->room = room;
  }
  return buffer->data + buffer->end;
}

void rgi_buffer_take(rgi_buffer *buffer, size_t bytes) {
  buffer->begin += bytes;
  if (!rgi_buffer_pending(buffer) && buffer->room > KEPT_BYTES)
    rgi_buffer_free(buffer);
}

void rgi_buffer_free(rgi_buffer *buffer) {
  free(buffer->data);
  *buffer = (rgi_buffer){0};
}
