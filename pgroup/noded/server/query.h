/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Queries: what a node's server (server.h) does with the node's memory, the heap of its arena, for
 * processes of other nodes.
 *
 * A query on the wire is an rgi_query, its entries and its data, filled up to a multiple of 8
 * bytes. The answers come in the order of the queries: the bytes that were read; or one word, the
 * old value of an element, or anything to say that the query has been executed. All in the
 * processors' own representation.
 *
 * The queries of one client, of which a rank has one for each use, are its session with the server.
 * They are numbered from 1 on, and the session outlives the connection. On a new connection the
 * client first sends an rgi_query_session, and the server answers with an rgi_query_state and its
 * words. So each query is executed exactly once, except gets: a get whose answer has not come is
 * sent again with its number, and executed again. */
#ifndef RGI_QUERY_H
#define RGI_QUERY_H

#include <stdint.h>

#include "access/access_kind.h"
#include "access/element.h"

/* One run of bytes, at a distance from the query's offset; or, for a patch, a dimension: its stride
 * in bytes and its extent, the innermost one's in bytes. */
typedef struct {
  int64_t at, bytes;
} rgi_query_entry;

#define RGI_QUERY_DIMS 8 /* at most */

typedef struct {
  uint32_t kind;         /* an rgi_access_kind */
  uint32_t element_type; /* an rgi_element_type */
  uint32_t dims, runs;   /* how many entries: one of them is 0 */
  uint64_t offset;       /* in the heap */
  uint64_t bytes;        /* of all data */
  int64_t a, b;      /* of one integer: it is added; it is compared with, and what replaces it */
  uint64_t number;   /* in the session */
  uint64_t received; /* the client has the answers up to that number */
} rgi_query;

typedef enum { RGI_QUERY_ARRAYS, RGI_QUERY_RESERVE, RGI_QUERY_USES } rgi_query_use;

typedef struct {
  int32_t rank;      /* the client's, of the world */
  int32_t use;       /* an rgi_query_use */
  uint64_t attempt;  /* greater for each new connection of the session */
  uint64_t received; /* as in a query */
} rgi_query_session;

typedef struct {
  uint64_t executed; /* all queries up to that number have been; or RGI_QUERY_REFUSED */
  uint64_t words;    /* how many rgi_query_word follow */
} rgi_query_state;

/* The server has had a query of this session that was not valid, and executes no more of them. */
#define RGI_QUERY_REFUSED UINT64_MAX

/* The answer to a fetch-add or compare-and-swap that the client may not have. */
typedef struct {
  uint64_t number;
  int64_t value;
} rgi_query_word;

/* Bytes of data behind the entries, filled up; of the answer. */
static inline uint64_t rgi_query_data_bytes(const rgi_query *query) {
  return query->kind == RGI_ACCESS_KIND_PUT || query->kind == RGI_ACCESS_KIND_ACC
             ? (query->bytes + 7) / 8 * 8
             : 0;
}

static inline uint64_t rgi_query_answer_bytes(const rgi_query *query) {
  return query->kind == RGI_ACCESS_KIND_GET ? query->bytes : sizeof(uint64_t);
}

static inline int rgi_query_is_atomic(const rgi_query *query) {
  return query->kind == RGI_ACCESS_KIND_FETCH_ADD || query->kind == RGI_ACCESS_KIND_COMPARE_SWAP;
}

/* How many bytes from its offset on a valid query reaches. */
uint64_t rgi_query_reach(const rgi_query *query, const rgi_query_entry *entries);

/* By the server: whether it stays inside memory of that size, and its data are as many bytes as it
 * says. */
int rgi_query_is_valid(const rgi_query *query, const rgi_query_entry *entries, uint64_t size);

/* By the server: executes a valid query. data: what is written; answer: room for the answer. */
void rgi_query_execute(const rgi_query *query, const rgi_query_entry *entries, char *memory,
                       const char *data, char *answer);

#endif
