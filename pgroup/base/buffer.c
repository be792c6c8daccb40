/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "base/buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

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

int rgi_buffer_send(rgi_buffer *b, int fd) {
  while (b->begin < b->end) {
    ssize_t n = send(fd, b->data + b->begin, rgi_buffer_pending(b), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0)
      return errno == EAGAIN || errno == EINTR;
    b->begin += (size_t)n;
  }
  return 1;
}

void rgi_buffer_free(rgi_buffer *b) {
  free(b->data);
  *b = (rgi_buffer){0};
}
