/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What a node's server (server.h) is asked to do with the node's memory, the annex of its
 * arena, and the doing of it.
 *
 * A question on the wire is an rgi_ask, its rows and its data, filled up to a multiple of 8
 * bytes. The answers come in the order of the questions: what was read, or one word, which
 * says of others that they have been done. All in the processors' own representation. */
#ifndef RGI_SERVICE_H
#define RGI_SERVICE_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
  RGI_ASK_GET,
  RGI_ASK_PUT,
  RGI_ASK_ADD,       /* atomic for each number, with one another and the two below */
  RGI_ASK_FETCH_ADD, /* a number, by a */
  RGI_ASK_SWAP       /* a number: to b if it is a */
} rgi_ask_kind;

typedef enum { RGI_NUMBER_INT32, RGI_NUMBER_INT64, RGI_NUMBER_FLOAT, RGI_NUMBER_DOUBLE } rgi_number;

/* One run at a distance from the question's offset, or, for a patch, a dimension: its stride
 * in bytes and its extent, the innermost in bytes. */
typedef struct {
  int64_t at, bytes;
} rgi_row;

#define RGI_ASK_DIMS 8 /* at most */

typedef struct {
  uint32_t kind, number;
  uint32_t dims, runs; /* of the rows: one of them is 0 */
  uint64_t offset;     /* in the annex */
  uint64_t bytes;      /* of all data */
  int64_t a, b;
} rgi_ask;

/* Bytes of data behind the rows, filled up; of the answer. */
uint64_t rgi_ask_data(const rgi_ask *q);
uint64_t rgi_ask_answer(const rgi_ask *q);

/* Whether it stays inside memory of that size, and its data are as many as it says. */
int rgi_ask_sound(const rgi_ask *q, const rgi_row *rows, uint64_t size);

/* Does it. data: what is written; answer: room for the answer. */
void rgi_ask_do(const rgi_ask *q, const rgi_row *rows, char *memory, const char *data,
                char *answer);

#endif
