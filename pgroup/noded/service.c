/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "noded/service.h"

#include <stdatomic.h>
#include <string.h>

static int is_word(const rgi_ask *q) {
  return q->kind == RGI_ASK_FETCH_ADD || q->kind == RGI_ASK_SWAP;
}

static uint64_t width(const rgi_ask *q) {
  return q->number == RGI_NUMBER_INT32 || q->number == RGI_NUMBER_FLOAT ? 4 : 8;
}

uint64_t rgi_ask_data(const rgi_ask *q) {
  return q->kind == RGI_ASK_PUT || q->kind == RGI_ASK_ADD ? (q->bytes + 7) / 8 * 8 : 0;
}

uint64_t rgi_ask_answer(const rgi_ask *q) {
  return q->kind == RGI_ASK_GET ? q->bytes : sizeof(uint64_t);
}

/* --- soundness ------------------------------------------------------------------------ */

/* Sums and products that are too large say so in *wrong. */
static uint64_t plus(uint64_t a, uint64_t b, int *wrong) {
  *wrong |= __builtin_add_overflow(a, b, &a);
  return a;
}

static uint64_t times(uint64_t a, uint64_t b, int *wrong) {
  *wrong |= __builtin_mul_overflow(a, b, &a);
  return a;
}

/* What its rows reach and hold. */
static int measure(const rgi_ask *q, const rgi_row *rows, uint64_t *reach, uint64_t *bytes) {
  int wrong = 0;
  *reach = 0;
  *bytes = q->dims > 0;
  for (uint32_t i = 0; i < q->dims + q->runs && !wrong; i++) {
    uint64_t at = (uint64_t)rows[i].at, n = (uint64_t)rows[i].bytes;
    if (rows[i].at < 0 || rows[i].bytes < (q->dims > 0))
      return 0;
    if (q->runs) {
      uint64_t end = at + n;
      *bytes = plus(*bytes, n, &wrong);
      *reach = end > *reach ? end : *reach;
    } else {
      *bytes = times(*bytes, n, &wrong);
      *reach = plus(*reach, i == q->dims - 1 ? n : times(n - 1, at, &wrong), &wrong);
    }
  }
  return !wrong;
}

int rgi_ask_sound(const rgi_ask *q, const rgi_row *rows, uint64_t size) {
  uint64_t reach = width(q), bytes = reach;
  if (q->kind > RGI_ASK_SWAP || q->dims > RGI_ASK_DIMS || (q->dims && q->runs))
    return 0;
  if (is_word(q) ? q->dims || q->runs : !measure(q, rows, &reach, &bytes))
    return 0;
  return bytes == q->bytes && q->offset <= size && reach <= size - q->offset;
}

/* --- numbers ---------------------------------------------------------------------------- */

/* n numbers; `from` need not be aligned, and integers wrap around. */
#define ADD_INTEGERS(bits)                                                                         \
  static void add_int##bits(char *to, const char *from, uint64_t n) {                              \
    for (uint64_t i = 0; i < n; i++) {                                                             \
      uint##bits##_t more;                                                                         \
      memcpy(&more, from + i * sizeof more, sizeof more);                                          \
      atomic_fetch_add((_Atomic uint##bits##_t *)(void *)to + i, more);                            \
    }                                                                                              \
  }

#define ADD_REALS(real, bits)                                                                      \
  static void add_##real(char *to, const char *from, uint64_t n) {                                 \
    for (uint64_t i = 0; i < n; i++) {                                                             \
      _Atomic uint##bits##_t *at = (_Atomic uint##bits##_t *)(void *)to + i;                       \
      uint##bits##_t was = atomic_load_explicit(at, memory_order_relaxed), next;                   \
      real more, sum;                                                                              \
      memcpy(&more, from + i * sizeof more, sizeof more);                                          \
      do {                                                                                         \
        memcpy(&sum, &was, sizeof sum);                                                            \
        sum += more;                                                                               \
        memcpy(&next, &sum, sizeof next);                                                          \
      } while (!atomic_compare_exchange_weak(at, &was, next));                                     \
    }                                                                                              \
  }

ADD_INTEGERS(32)
ADD_INTEGERS(64)
ADD_REALS(float, 32)
ADD_REALS(double, 64)

static void add(uint32_t number, char *to, const char *from, uint64_t bytes) {
  if (number == RGI_NUMBER_INT32)
    add_int32(to, from, bytes / 4);
  else if (number == RGI_NUMBER_INT64)
    add_int64(to, from, bytes / 8);
  else if (number == RGI_NUMBER_FLOAT)
    add_float(to, from, bytes / 4);
  else
    add_double(to, from, bytes / 8);
}

/* What was there before. */
static int64_t do_word(const rgi_ask *q, char *at) {
  int32_t small = (int32_t)q->a;
  int64_t large = q->a;
  if (q->kind == RGI_ASK_FETCH_ADD)
    return q->number == RGI_NUMBER_INT32
               ? atomic_fetch_add((_Atomic int32_t *)(void *)at, (int32_t)q->a)
               : atomic_fetch_add((_Atomic int64_t *)(void *)at, q->a);
  if (q->number == RGI_NUMBER_INT32) {
    atomic_compare_exchange_strong((_Atomic int32_t *)(void *)at, &small, (int32_t)q->b);
    return small;
  }
  atomic_compare_exchange_strong((_Atomic int64_t *)(void *)at, &large, q->b);
  return large;
}

/* --- rows ------------------------------------------------------------------------------- */

/* Where the data are: one of them moves on. */
typedef struct {
  const char *data;
  char *answer;
} cursor;

static void do_row(const rgi_ask *q, char *at, uint64_t bytes, cursor *c) {
  if (q->kind == RGI_ASK_GET) {
    memcpy(c->answer, at, bytes);
    c->answer += bytes;
    return;
  }
  if (q->kind == RGI_ASK_PUT)
    memcpy(at, c->data, bytes);
  else
    add(q->number, at, c->data, bytes);
  c->data += bytes;
}

static void do_patch(const rgi_ask *q, const rgi_row *rows, uint32_t d, char *at, cursor *c) {
  if (d == q->dims - 1) {
    do_row(q, at, (uint64_t)rows[d].bytes, c);
    return;
  }
  for (int64_t i = 0; i < rows[d].bytes; i++)
    do_patch(q, rows, d + 1, at + i * rows[d].at, c);
}

void rgi_ask_do(const rgi_ask *q, const rgi_row *rows, char *memory, const char *data,
                char *answer) {
  char *at = memory + q->offset;
  cursor c = {data, answer};
  int64_t word = is_word(q) ? do_word(q, at) : 0;
  if (q->dims)
    do_patch(q, rows, 0, at, &c);
  for (uint32_t i = 0; i < q->runs; i++)
    do_row(q, at + rows[i].at, (uint64_t)rows[i].bytes, &c);
  if (q->kind != RGI_ASK_GET)
    memcpy(answer, &word, sizeof word);
}
