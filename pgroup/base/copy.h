/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Copying of data of any length.
 *
 * From some 2 KiB up the C library copies by `rep movsb`, which takes AMD's processors up to 16
 * times longer where the target lies 1 to 31 bytes behind the source, both taken modulo 4 KiB. So
 * it is for every copy from shared memory to a large block of malloc, which begins 16 bytes behind
 * a page. Such copies are done by vectors of 16 bytes. */
#ifndef RGI_COPY_H
#define RGI_COPY_H

#include <stdint.h>
#include <string.h>

/* Below so many bytes the C library does not use `rep movsb`. */
#define RGI_COPY_LONG 2048

typedef long long rgi_copy_vector __attribute__((vector_size(16), aligned(1), may_alias));

static inline void rgi_copy_vectors(char *to, const char *from, size_t bytes) {
  for (; bytes >= 64; to += 64, from += 64, bytes -= 64) {
    const rgi_copy_vector *f = (const rgi_copy_vector *)from, a = f[0], b = f[1], c = f[2],
                          d = f[3];
    rgi_copy_vector *t = (rgi_copy_vector *)to;
    t[0] = a;
    t[1] = b;
    t[2] = c;
    t[3] = d;
  }
  memcpy(to, from, bytes);
}

/* A number is loaded and stored once, since other processes may read or write it meanwhile: the C
 * library stores some bytes of 2, 4 or 8 twice where it is not told how many there are. 0: these
 * are other bytes. */
static inline int rgi_copy_number(void *to, const void *from, size_t bytes) {
  if (bytes == 8)
    memcpy(to, from, 8);
  else if (bytes == 4)
    memcpy(to, from, 4);
  else if (bytes == 2)
    memcpy(to, from, 2);
  else if (bytes == 1)
    memcpy(to, from, 1);
  else
    return 0;
  return 1;
}

/* As memcpy: the blocks do not overlap. From 32 to 63 bytes behind both ways are as fast. */
static inline void rgi_copy_block(void *to, const void *from, size_t bytes) {
  size_t behind = ((uintptr_t)to - (uintptr_t)from) % 4096;
  if (rgi_copy_number(to, from, bytes))
    return;
  if (bytes >= RGI_COPY_LONG && behind - 1 < 63)
    rgi_copy_vectors(to, from, bytes);
  else
    memcpy(to, from, bytes);
}

#endif
