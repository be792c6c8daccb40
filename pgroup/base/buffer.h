/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Bytes of a connection that wait to be sent, or to be complete. */
#ifndef RGI_BUFFER_H
#define RGI_BUFFER_H

#include <stddef.h>

typedef struct {
  char *data;
  size_t begin, end, room; /* what waits lies from begin to end */
} rgi_buffer;

static inline size_t rgi_buffer_pending(const rgi_buffer *b) {
  return b->end - b->begin;
}

/* Room for so many bytes behind what waits; who fills it moves end on. NULL: no memory. */
char *rgi_buffer_room(rgi_buffer *b, size_t bytes);

/* Sends what waits as far as the connection takes it now. 0: it is broken, and errno says why. */
int rgi_buffer_send(rgi_buffer *b, int fd);

/* Gives the memory back. */
void rgi_buffer_free(rgi_buffer *b);

#endif
