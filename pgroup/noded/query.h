/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What a node's server (server.h) is asked to do with the node's memory, the heap of its
 * arena, and the doing of it.
 *
 * A question on the wire is an rgi_query, its entries and its data, filled up to a multiple of 8
 * bytes. The answers come in the order of the questions: what was read, or one word, which
 * says of others that they have been done. All in the processors' own representation. */
#ifndef RGI_QUERY_H
#define RGI_QUERY_H

#include <stddef.h>
#include <stdint.h>

#include "access/element.h"

typedef enum {
  RGI_QUERY_GET,
  RGI_QUERY_PUT,
  RGI_QUERY_ACCUMULATE,  /* atomic for each element, with one another and the two below */
  RGI_QUERY_FETCH_ADD,   /* an element, by a */
  RGI_QUERY_COMPARE_SWAP /* an element: to b if it is a */
} rgi_query_kind;

/* One run at a distance from the question's offset, or, for a patch, a dimension: its stride
 * in bytes and its extent, the innermost in bytes. */
typedef struct {
  int64_t at, bytes;
} rgi_query_entry;

#define RGI_QUERY_DIMS 8 /* at most */

typedef struct {
  uint32_t kind, element_type; /* rgi_query_kind, rgi_element_type */
  uint32_t dims, runs;         /* of the entries: one of them is 0 */
  uint64_t offset;             /* in the heap */
  uint64_t bytes;              /* of all data */
  int64_t a, b;
} rgi_query;

/* Bytes of data behind the entries, filled up; of the answer. */
uint64_t rgi_query_data_bytes(const rgi_query *q);
uint64_t rgi_query_answer_bytes(const rgi_query *q);

/* Whether it stays inside memory of that size, and its data are as many as it says. */
int rgi_query_is_valid(const rgi_query *q, const rgi_query_entry *entries, uint64_t size);

/* Does it. data: what is written; answer: room for the answer. */
void rgi_query_execute(const rgi_query *q, const rgi_query_entry *entries, char *memory,
                       const char *data, char *answer);

#endif
