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
static int measure_entries(const rgi_query *q, const rgi_query_entry *entries, uint64_t *reach,
                           uint64_t *bytes) {
  int wrong = 0;
  *reach = 0;
  *bytes = q->dims > 0;
  for (uint32_t i = 0; i < q->dims + q->runs && !wrong; i++) {
    uint64_t at = (uint64_t)entries[i].at, n = (uint64_t)entries[i].bytes;
    if (entries[i].at < 0 || entries[i].bytes < (q->dims > 0))
      return 0;
    if (q->runs) {
      uint64_t end = at + n;
      *bytes = add_checked(*bytes, n, &wrong);
      *reach = end > *reach ? end : *reach;
    } else {
      *bytes = multiply_checked(*bytes, n, &wrong);
      *reach =
          add_checked(*reach, i == q->dims - 1 ? n : multiply_checked(n - 1, at, &wrong), &wrong);
    }
  }
  return !wrong;
}

int rgi_query_is_valid(const rgi_query *q, const rgi_query_entry *entries, uint64_t size) {
  uint64_t reach = rgi_element_bytes(q->element_type), bytes = reach;
  if (q->kind > RGI_ACCESS_KIND_COMPARE_SWAP || q->dims > RGI_QUERY_DIMS || (q->dims && q->runs) ||
      q->element_type > (rgi_query_is_atomic(q) ? RGI_ELEMENT_INT64 : RGI_ELEMENT_DOUBLE))
    return 0;
  if (rgi_query_is_atomic(q) ? q->dims || q->runs : !measure_entries(q, entries, &reach, &bytes))
    return 0;
  return bytes == q->bytes && q->offset <= size && reach <= size - q->offset;
}

uint64_t rgi_query_reach(const rgi_query *q, const rgi_query_entry *entries) {
  uint64_t reach = rgi_element_bytes(q->element_type), bytes;
  if (!rgi_query_is_atomic(q))
    measure_entries(q, entries, &reach, &bytes);
  return reach;
}

/* --- entries ------------------------------------------------------------------------------- */

/* The next byte to write from, or to read into. */
typedef struct {
  const char *data;
  char *answer;
} cursor;

static void do_entry(const rgi_query *q, char *at, uint64_t bytes, cursor *c) {
  if (q->kind == RGI_ACCESS_KIND_GET) {
    rgi_copy_block(c->answer, at, bytes);
    c->answer += bytes;
    return;
  }
  if (q->kind == RGI_ACCESS_KIND_PUT)
    rgi_copy_block(at, c->data, bytes);
  else
    rgi_element_accumulate(q->element_type, at, c->data,
                           bytes / rgi_element_bytes(q->element_type));
  c->data += bytes;
}

static void do_patch(const rgi_query *q, const rgi_query_entry *entries, uint32_t d, char *at,
                     cursor *c) {
  if (d == q->dims - 1) {
    do_entry(q, at, (uint64_t)entries[d].bytes, c);
    return;
  }
  for (int64_t i = 0; i < entries[d].bytes; i++)
    do_patch(q, entries, d + 1, at + i * entries[d].at, c);
}

void rgi_query_execute(const rgi_query *q, const rgi_query_entry *entries, char *memory,
                       const char *data, char *answer) {
  char *at = memory + q->offset;
  cursor c = {data, answer};
  int64_t word = 0; /* the answer where nothing is read */
  if (q->kind == RGI_ACCESS_KIND_FETCH_ADD)
    word = rgi_element_fetch_add(q->element_type, at, q->a);
  else if (q->kind == RGI_ACCESS_KIND_COMPARE_SWAP)
    word = rgi_element_compare_swap(q->element_type, at, q->a, q->b);
  if (q->dims)
    do_patch(q, entries, 0, at, &c);
  for (uint32_t i = 0; i < q->runs; i++)
    do_entry(q, at + entries[i].at, (uint64_t)entries[i].bytes, &c);
  if (q->kind != RGI_ACCESS_KIND_GET)
    memcpy(answer, &word, sizeof word);
}
