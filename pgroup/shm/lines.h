/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Cache lines, to which blocks of the node's arena are aligned. Words that hold the offset of a
 * block beside something else hold it in lines, in RGI_LINE_BITS bits: each of them is tied to that
 * number by an assertion, and rgi_arena_make to RGI_LINE_REACH. */
#ifndef RGI_LINES_H
#define RGI_LINES_H

#include <stdint.h>

#define RGI_LINE 64

/* Bits of an offset in lines; the largest arena without its heap, in bytes: 4 TiB. */
#define RGI_LINE_BITS 36
#define RGI_LINE_REACH ((uint64_t)RGI_LINE << RGI_LINE_BITS)

/* Bytes that fill whole lines, so many at least. */
static inline uint64_t rgi_lines_whole(uint64_t bytes) {
  return (bytes + RGI_LINE - 1) / RGI_LINE * RGI_LINE;
}

#endif
