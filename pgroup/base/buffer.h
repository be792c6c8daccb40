/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Bytes of a connection that are still to be sent; or received, but not a whole message yet. */
#ifndef RGI_BUFFER_H
#define RGI_BUFFER_H

#include <stddef.h>

typedef struct {
  char *data;
  size_t begin, end, room; /* the bytes lie from begin to end */
} rgi_buffer;

static inline size_t rgi_buffer_pending(const rgi_buffer *buffer) {
  return buffer->end - buffer->begin;
}

/* Room for so many bytes at the end; the caller fills it and moves end on. NULL: no memory. */
char *rgi_buffer_room(rgi_buffer *buffer, size_t bytes);

/* Takes so many bytes from the begin. A large buffer that is empty then gives its memory back. */
void rgi_buffer_take(rgi_buffer *buffer, size_t bytes);

/* Frees the memory. */
void rgi_buffer_free(rgi_buffer *buffer);

#endif
