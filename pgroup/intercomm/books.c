/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "intercomm/books.h"

#include <stdlib.h>
#include <string.h>

#include "formation/context.h"
#include "formation/group.h"
#include "formation/spread.h"
#include "intercomm/ledger.h"
#include "runtime/arena.h"
#include "runtime/error.h"
#include "runtime/message.h"
#include "runtime/node.h"
#include "runtime/runtime.h"

/* Tags: to one that sleeps; to the keeper of the books, and back. */
enum { CALL, ASK, ANSWER };

/* What the keeper is asked: {what, argument}. */
enum { TAKE, PUT, LEAVE, COUNT };

static struct {
  rgi_ledger *ledger; /* NULL: the keeper has it */
  int kept;           /* on several nodes: by the last process */
  uint64_t block;     /* of the arena */
} books;

static uint64_t context(void) {
  return rgi_mix(0x72657365727665u);
}

static int keeper(void) {
  return rgi_rt.size - 1;
}

static int send(const char *call, int to, int tag, const int ints[], int count) {
  rgi_request r;
  RGI_TRY(rgi_message_send(context(), to, tag, ints, (size_t)count * sizeof *ints, &r));
  return rgi_message_wait(&r, call);
}

/* --- opening ------------------------------------------------------------------ */

/* Process 0 makes the ledger and tells all where it is. */
static int open_in_arena(const char *call, int n) {
  int where[3] = {RG_SUCCESS}, *told = where, count = 3;
  size_t bytes = rgi_ledger_bytes(rgi_rt.size);
  rg_group world;
  RGI_TRY(rg_group_world(&world));
  if (rgi_rt.rank == 0 &&
      !(where[0] = rgi_arena_take("the reserve's books", bytes, &books.block))) {
    rgi_ledger *l = rgi_arena_at(books.block);
    memset(l, 0, bytes);
    rgi_ledger_start(l, rgi_rt.size, n, 0);
    where[1] = (int)(uint32_t)(books.block >> 32);
    where[2] = (int)(uint32_t)books.block;
  }
  int error = rgi_spread(world, 0, call, &count, &told);
  rg_group_free(&world);
  if (error)
    return error;
  books.block = (uint64_t)(uint32_t)told[1] << 32 | (uint32_t)told[2];
  error = told[0];
  if (told != where)
    free(told);
  if (error)
    return rgi_rt.rank == 0 ? error : rgi_error_from(error, call, 0);
  books.ledger = rgi_arena_at(books.block);
  return RG_SUCCESS;
}

static int open_at_keeper(const char *call, int n) {
  books.kept = 1;
  if (rgi_rt.rank != keeper())
    return RG_SUCCESS;
  books.ledger = calloc(1, rgi_ledger_bytes(rgi_rt.size));
  if (!books.ledger)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call, rgi_rt.size);
  rgi_ledger_start(books.ledger, rgi_rt.size, n, 1);
  return RG_SUCCESS;
}

int rgi_books_open(const char *call, int n) {
  return rgi_node.count == 1 ? open_in_arena(call, n) : open_at_keeper(call, n);
}

void rgi_books_close(void) {
  if (books.kept)
    free(books.ledger);
  memset(&books, 0, sizeof books); /* the arena goes as a whole */
}

/* --- the books themselves ------------------------------------------------------- */

static int end_all(const char *call) {
  int error = RG_SUCCESS;
  for (int i = 0; i < rgi_rt.size; i++)
    if (atomic_load(&books.ledger->sleeps[i])) {
      int one = send(call, i, CALL, NULL, 0);
      error = error ? error : one;
    }
  return error;
}

static int ask(const char *call, int what, int argument) {
  int question[2] = {what, argument};
  return send(call, keeper(), ASK, question, 2);
}

static int ask_and_hear(const char *call, int what, int argument, int **ints) {
  int count;
  RGI_TRY(ask(call, what, argument));
  return rgi_receive_ints(context(), keeper(), ANSWER, call, &count, ints);
}

int rgi_books_take(const char *call, int n, int ranks[], int *there) {
  int *answer;
  if (books.ledger) {
    *there = rgi_ledger_take(books.ledger, n, ranks);
    return RG_SUCCESS;
  }
  RGI_TRY(ask_and_hear(call, TAKE, n, &answer));
  *there = answer[0];
  if (answer[0] == n)
    memcpy(ranks, answer + 1, (size_t)n * sizeof *ranks);
  free(answer);
  return RG_SUCCESS;
}

int rgi_books_put(const char *call, int rank) {
  if (!books.ledger)
    return ask(call, PUT, rank);
  return rgi_ledger_put(books.ledger, rank) ? end_all(call) : RG_SUCCESS;
}

int rgi_books_leave(const char *call) {
  if (!books.ledger)
    return ask(call, LEAVE, 0);
  return rgi_ledger_leave(books.ledger) ? end_all(call) : RG_SUCCESS;
}

int rgi_books_count(const char *call, int *sleeping) {
  int *answer;
  if (books.ledger) {
    *sleeping = rgi_ledger_count(books.ledger);
    return RG_SUCCESS;
  }
  RGI_TRY(ask_and_hear(call, COUNT, 0, &answer));
  *sleeping = answer[0];
  free(answer);
  return RG_SUCCESS;
}

/* --- sleeping --------------------------------------------------------------------- */

static int await(const char *call, int tag, int *from, int *count, int **ints) {
  size_t bytes;
  RGI_TRY(rgi_message_await_call(context(), tag, call, from, &bytes));
  return rgi_receive_ints(context(), *from, tag, call, count, ints);
}

static int serve_take(const char *call, int n, int to) {
  int size = books.ledger->size, *answer = malloc(((size_t)size + 1) * sizeof *answer);
  if (!answer)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call, size);
  answer[0] = rgi_ledger_take(books.ledger, n < size ? n : size, answer + 1);
  int error = send(call, to, ANSWER, answer, 1 + (answer[0] == n ? n : 0));
  free(answer);
  return error;
}

/* *over: nobody can draw any more. */
static int serve(const char *call, const int question[2], int from, int *over) {
  int sleeping;
  switch (question[0]) {
  case TAKE:
    return serve_take(call, question[1], from);
  case PUT:
    *over = rgi_ledger_put(books.ledger, question[1]);
    return RG_SUCCESS;
  case LEAVE:
    *over = rgi_ledger_leave(books.ledger);
    return RG_SUCCESS;
  default:
    sleeping = rgi_ledger_count(books.ledger);
    return send(call, from, ANSWER, &sleeping, 1);
  }
}

static int keep(const char *call) {
  for (int over = 0; !over;) {
    int from, count, *question;
    RGI_TRY(await(call, ASK, &from, &count, &question));
    int error = serve(call, question, from, &over);
    free(question);
    if (error)
      return error;
  }
  return end_all(call);
}

int rgi_books_sleep(const char *call, int **ints) {
  int from, count;
  if (books.kept && rgi_rt.rank == keeper()) {
    RGI_TRY(keep(call));
    *ints = NULL;
    return RG_SUCCESS;
  }
  RGI_TRY(await(call, CALL, &from, &count, ints));
  if (count == 0) {
    free(*ints);
    *ints = NULL;
  }
  return RG_SUCCESS;
}

int rgi_books_call(const char *call, int rank, const int ints[], int count) {
  return send(call, rank, CALL, ints, count);
}
