/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards. A query comes from another node: its sizes and offsets are not trusted.
 * rgi_query_is_valid checks that all it reaches lies in the heap and that its bytes are as many as
 * it says, with arithmetic that notices overflow; rgi_query_execute then goes through its runs, or
 * through the rows of its patch, and copies, adds or changes. */
#include "noded/server/query.h"

#include <string.h>

#include "base/copy.h"

/* --- validity ------------------------------------------------------------------------------ */

/* Sums and products that overflow set *wrong. */
static uint64_t add_checked(uint64_t a, uint64_t b, int *wrong) {
  *wrong |= __builtin_add_overflow(a, b, &a);
  return a;
}

static uint64_t multiply_checked(uint64_t a, uint64_t b, int *wrong) {
  *wrong |= __builtin_mul_overflow(a, b, &a);
  return a;
}

/* How far from its offset the entries of a query reach, and how many bytes they hold. */
static int measure_entries(const rgi_query *query, const rgi_query_entry *entries, uint64_t *reach,
                           uint64_t *bytes) {
  int wrong = 0;
  *reach = 0;
  *bytes = query->dims > 0;
  for (uint32_t i = 0; i < query->dims + query->runs && !wrong; i++) {
    uint64_t at = (uint64_t)entries[i].at, n = (uint64_t)entries[i].bytes;
    if (entries[i].at < 0 || entries[i].bytes < (query->dims > 0))
      return 0;
    if (query->runs) {
      uint64_t end = at + n;
      *bytes = add_checked(*bytes, n, &wrong);
      *reach = end > *reach ? end : *reach;
    } else {
      *bytes = multiply_checked(*bytes, n, &wrong);
      *reach = add_checked(*reach, i == query->dims - 1 ? n : multiply_checked(n - 1, at, &wrong),
                           &wrong);
    }
  }
  return !wrong;
}

int rgi_query_is_valid(const rgi_query *query, const rgi_query_entry *entries, uint64_t size) {
  uint64_t reach = rgi_element_bytes(query->element_type), bytes = reach;
  if (query->kind > RGI_ACCESS_KIND_COMPARE_SWAP || query->dims > RGI_QUERY_DIMS ||
      (query->dims && query->runs) ||
      query->element_type > (rgi_query_is_atomic(query) ? RGI_ELEMENT_INT64 : RGI_ELEMENT_DOUBLE))
    return 0;
  if (rgi_query_is_atomic(query) ? query->dims || query->runs
                                 : !measure_entries(query, entries, &reach, &bytes))
    return 0;
  return bytes == query->bytes && query->offset <= size && reach <= size - query->offset;
}

uint64_t rgi_query_reach(const rgi_query *query, const rgi_query_entry *entries) {
  uint64_t reach = rgi_element_bytes(query->element_type), bytes;
  if (!rgi_query_is_atomic(query))
    measure_entries(query, entries, &reach, &bytes);
  return reach;
}

/* --- entries ------------------------------------------------------------------------------- */

/* The next byte to write from, or to read into. */
typedef struct {
  const char *data;
  char *answer;
} query_cursor;

static void do_entry(const rgi_query *query, char *at, uint64_t bytes, query_cursor *cursor) {
  if (query->kind == RGI_ACCESS_KIND_GET) {
    rgi_copy_block(cursor->answer, at, bytes);
    cursor->answer += bytes;
    return;
  }
  if (query->kind == RGI_ACCESS_KIND_PUT)
    rgi_copy_block(at, cursor->data, bytes);
  else
    rgi_element_accumulate(query->element_type, at, cursor->data,
                           bytes / rgi_element_bytes(query->element_type));
  cursor->data += bytes;
}

static void do_patch(const rgi_query *query, const rgi_query_entry *entries, uint32_t d, char *at,
                     query_cursor *cursor) {
  if (d == query->dims - 1) {
    do_entry(query, at, (uint64_t)entries[d].bytes, cursor);
    return;
  }
  for (int64_t i = 0; i < entries[d].bytes; i++)
    do_patch(query, entries, d + 1, at + i * entries[d].at, cursor);
}

void rgi_query_execute(const rgi_query *query, const rgi_query_entry *entries, char *memory,
                       const char *data, char *answer) {
  char *at = memory + query->offset;
  query_cursor cursor = {data, answer};
  int64_t word = 0; /* the answer where nothing is read */
  if (query->kind == RGI_ACCESS_KIND_FETCH_ADD)
    word = rgi_element_fetch_add(query->element_type, at, query->a);
  else if (query->kind == RGI_ACCESS_KIND_COMPARE_SWAP)
    word = rgi_element_compare_swap(query->element_type, at, query->a, query->b);
  if (query->dims)
    do_patch(query, entries, 0, at, &cursor);
  for (uint32_t i = 0; i < query->runs; i++)
    do_entry(query, at + entries[i].at, (uint64_t)entries[i].bytes, &cursor);
  if (query->kind != RGI_ACCESS_KIND_GET)
    memcpy(answer, &word, sizeof word);
}
