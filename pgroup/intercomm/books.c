/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "intercomm/books.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formation/context.h"
#include "formation/group.h"
#include "formation/spread.h"
#include "intercomm/drawing.h"
#include "intercomm/ledger.h"
#include "intercomm/orphans.h"
#include "message/message.h"
#include "noded/mesh.h"
#include "progress/request.h"
#include "progress/slot.h"
#include "progress/wait.h"
#include "runtime/runtime.h"
#include "shm/failure.h"
#include "shm/node.h"
#include "shm/process.h"

/* Tags: to one that sleeps; to the keeper of the books; process 0's n; an answer of the keeper's
 * and those after it, each question's its own: nobody hears one that another has given up. */
enum { CALL, ASK, OPENING, ANSWER };
#define ANSWERS (1 << 20)

/* What the keeper is asked: {what, argument, number in two ints, tag of the answer}. */
enum { TAKE, PUT, LEAVE, COME, COUNT, GIVE_BACK };
enum { WHAT, ARGUMENT, NUMBER, REPLY = NUMBER + 2, QUESTION };

/* The end, to one that sleeps: nothing, or one int where all that worked have died. */
#define LOST_INTS 1

/* To one that sleeps: the number of its draw, whose taker has died, in two ints. If it has not
 * heard of that draw it gives itself back. Letters are longer. */
#define DOUBT_INTS 2

static struct {
  rgi_ledger *ledger;          /* NULL: the keeper has it */
  int kept;                    /* on several nodes: by the last process */
  unsigned long epoch, opened; /* how often in this start of the library */
  uint64_t given_back;         /* the last draw that this process has given itself back from */
  unsigned asked;              /* questions that want an answer */
} books;

static uint64_t context(void) {
  return rgi_mix(0x72657365727665u);
}

static int keeper(void) {
  return rgi_rt.size - 1;
}

/* What is said about the books is said and heard to the end, whoever else dies meanwhile: a
 * process that was taken is to hear of it, or it sleeps no more and nobody has it. Returns the
 * scope to go back to. */
static rgi_scope leave_scope(void) {
  rgi_scope scope = rgi_scope_now;
  rgi_scope_now = (rgi_scope){0};
  return scope;
}

static int send(const char *call, int to, int tag, const int ints[], int count) {
  rgi_scope scope = leave_scope();
  int error = rgi_message_deliver(context(), to, tag, ints, (size_t)count * sizeof *ints, call);
  rgi_scope_now = scope;
  return error;
}

static int hear(const char *call, int from, int tag, int **ints) {
  int count;
  rgi_scope scope = leave_scope();
  int error = rgi_receive_ints(context(), from, tag, call, &count, ints);
  rgi_scope_now = scope;
  return error;
}

/* Those that sleep look themselves. */
static void ring_all(void) {
  for (int i = 0; i < rgi_node.n; i++)
    rgi_ring(i);
}

/* --- opening ------------------------------------------------------------------ */

/* Who comes first makes the ledger; process 0, or whoever finds it dead, begins it. */
static int open_in_arena(const char *call, int *n) {
  uint64_t slot, key;
  void *memory;
  rgi_wait w;
  key = rgi_mix(context() + ++books.opened);
  RGI_TRY(rgi_slot_attach(key, rgi_rt.size, rgi_ledger_bytes(rgi_rt.size), &slot, &memory));
  rgi_ledger *l = memory;
  rgi_wait_start_unscoped(&w, call, 0);
  while (!atomic_load(&l->known)) {
    if (rgi_rt.rank == 0 || rgi_is_dead(0))
      RGI_TRY(rgi_ledger_begin(l, rgi_rt.size, *n));
    else
      RGI_TRY(rgi_wait_more(&w));
  }
  *n = l->n;
  books.ledger = l; /* the slot stays: the arena goes as a whole */
  return RG_SUCCESS;
}

/* Process 0's n, for all. */
static int hear_n(const char *call, rg_group world, int *n) {
  int count = 1, *told = n;
  RGI_TRY(rgi_group_check_member(call, world)); /* whose deaths end the waits */
  RGI_TRY(rgi_spread(world, 0, call, &count, &told));
  *n = told[0];
  if (told != n)
    free(told);
  return RG_SUCCESS;
}

/* The same where deaths are survived: those who have opened it may die already, and nobody
 * waits for any but process 0. If that has died everybody's own n counts. */
static int hear_first(const char *call, int *n) {
  int *told = NULL, error = RG_SUCCESS;
  for (int i = 1; rgi_rt.rank == 0 && i < rgi_rt.size; i++) {
    int one = send(call, i, OPENING, n, 1);
    error = error || one == RG_ERR_PROC_FAILED ? error : one;
  }
  if (rgi_rt.rank > 0)
    error = hear(call, 0, OPENING, &told);
  if (told)
    *n = told[0];
  free(told);
  return error == RG_ERR_PROC_FAILED ? RG_SUCCESS : error;
}

static int open_at_keeper(const char *call, rg_group world, int *n) {
  RGI_TRY(rgi_mesh_there() ? hear_first(call, n) : hear_n(call, world, n));
  books.kept = 1;
  if (*n > 0 && *n < rgi_rt.size)
    RGI_TRY(rgi_orphans_open(call));
  if (rgi_rt.rank != keeper() || *n < 1 || *n >= rgi_rt.size)
    return RG_SUCCESS;
  books.ledger = calloc(1, rgi_ledger_bytes(rgi_rt.size));
  if (!books.ledger)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call, rgi_rt.size);
  rgi_ledger_start(books.ledger, rgi_rt.size, *n, 1);
  return RG_SUCCESS;
}

int rgi_books_open(const char *call, rg_group world, int *n) {
  if (books.epoch != rgi_rt.epoch)
    books.opened = 0;
  books.epoch = rgi_rt.epoch;
  return rgi_node.count == 1 ? open_in_arena(call, n) : open_at_keeper(call, world, n);
}

void rgi_books_close(void) {
  if (books.kept)
    free(books.ledger);
  rgi_orphans_close();
  books.ledger = NULL;
  books.kept = 0;
}

/* --- the books themselves ------------------------------------------------------- */

static int ask(const char *call, int what, int argument, uint64_t number, int reply) {
  int question[QUESTION] = {[WHAT] = what, [ARGUMENT] = argument, [REPLY] = reply};
  rgi_put_number(question + NUMBER, number);
  if (rgi_is_dead(keeper()))
    return rgi_error(RG_ERR_PROC_FAILED, "%s: the process that keeps the reserve's books has died",
                     call);
  return send(call, keeper(), ASK, question, QUESTION);
}

/* {0, 0} where the keeper is dead: nobody can be drawn. */
static int ask_and_hear(const char *call, int what, int argument, uint64_t number, int **ints) {
  int reply = ANSWER + (int)(books.asked++ % ANSWERS),
      error = ask(call, what, argument, number, reply);
  if (!error)
    error = hear(call, keeper(), reply, ints);
  if (error != RG_ERR_PROC_FAILED || !rgi_is_dead(keeper()))
    return error;
  *ints = calloc(2, sizeof **ints);
  return *ints ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
}

/* There is nothing to be told to a keeper that is dead. */
static int tell(const char *call, int what, int argument, uint64_t number) {
  int error = rgi_is_dead(keeper()) ? RG_SUCCESS : ask(call, what, argument, number, 0);
  return error == RG_ERR_PROC_FAILED ? RG_SUCCESS : error;
}

/* n that sleep; or {how many there are, how many are coming}. */
static int try_to_take(const char *call, int n, uint64_t number, int ranks[], int *there,
                       int *coming) {
  int *answer;
  if (books.ledger)
    return rgi_ledger_take(books.ledger, n, rgi_rt.rank, number, ranks, there, coming);
  RGI_TRY(ask_and_hear(call, TAKE, n, number, &answer));
  *there = answer[0];
  *coming = answer[1];
  if (answer[0] == n)
    memcpy(ranks, answer + 2, (size_t)n * sizeof *ranks);
  free(answer);
  return RG_SUCCESS;
}

/* Those that another draw has taken in vain are waited for: nobody can keep them. */
int rgi_books_take(const char *call, int n, uint64_t number, int ranks[], int *there) {
  rgi_wait w;
  rgi_wait_start(&w, call, -1);
  for (;;) {
    int coming = 0;
    RGI_TRY(try_to_take(call, n, number, ranks, there, &coming));
    if (*there >= n || *there + coming < n)
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_more(&w));
  }
}

static int change(const char *call, int rank, int what, rgi_sleeper state) {
  if (!books.ledger)
    return tell(call, what, rank, 0);
  int error = rgi_ledger_put(books.ledger, rank, state);
  ring_all();
  return error;
}

int rgi_books_put(const char *call, int rank) {
  return change(call, rank, PUT, RGI_SLEEPS);
}

int rgi_books_leave(const char *call) {
  RGI_TRY(rgi_orphans_leave(call));
  return change(call, rgi_rt.rank, LEAVE, RGI_HAS_LEFT);
}

int rgi_books_come(const char *call) {
  RGI_TRY(rgi_orphans_come(call));
  return change(call, rgi_rt.rank, COME, RGI_WORKS);
}

int rgi_books_count(const char *call, int *sleeping) {
  int *answer;
  rgi_liveness_look_now();
  if (books.ledger) {
    *sleeping = rgi_ledger_count(books.ledger);
    return RG_SUCCESS;
  }
  RGI_TRY(ask_and_hear(call, COUNT, 0, 0, &answer));
  *sleeping = answer[0];
  free(answer);
  return RG_SUCCESS;
}

/* --- the keeper ------------------------------------------------------------------- */

static int serve_take(const char *call, const int question[QUESTION], int to) {
  int size = books.ledger->size, n = question[ARGUMENT] < size ? question[ARGUMENT] : size;
  int *answer = malloc(((size_t)size + 2) * sizeof *answer);
  if (!answer)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call, size);
  int error = rgi_ledger_take(books.ledger, n, to, rgi_number_in(question + NUMBER), answer + 2,
                              &answer[0], &answer[1]);
  if (!error)
    error = send(call, to, question[REPLY], answer, 2 + (answer[0] == n ? n : 0));
  free(answer);
  return error;
}

static int serve(const char *call, const int question[QUESTION], int from) {
  static const rgi_sleeper states[] = {
      [PUT] = RGI_SLEEPS, [LEAVE] = RGI_HAS_LEFT, [COME] = RGI_WORKS};
  int answer;
  switch (question[WHAT]) {
  case GIVE_BACK:
    return rgi_ledger_give_back(books.ledger, from, rgi_number_in(question + NUMBER));
  case TAKE:
    return serve_take(call, question, from);
  case COUNT:
    answer = rgi_ledger_count(books.ledger);
    return send(call, from, question[REPLY], &answer, 1);
  default:
    return rgi_ledger_put(books.ledger, question[WHAT] == PUT ? question[ARGUMENT] : from,
                          states[question[WHAT]]);
  }
}

/* All that may still sleep hear that it is over. */
static int end_all(const char *call, int lost) {
  int error = RG_SUCCESS, told[LOST_INTS] = {1};
  for (int i = 0; i < books.ledger->size - 1; i++) {
    uint32_t state = atomic_load(&books.ledger->of[i].state);
    if ((state == RGI_SLEEPS || state == RGI_TAKEN) && !rgi_is_dead(i)) {
      int one = send(call, i, CALL, told, lost ? LOST_INTS : 0);
      error = error || one == RG_ERR_PROC_FAILED ? error : one;
    }
  }
  return error;
}

/* A message for this process, or *from is -1. */
static int look(const char *call, int tag, int *from, int *count, int **ints) {
  int there = 0, its_tag;
  size_t bytes;
  RGI_TRY(rgi_message_probe(context(), RGI_ANY, tag, &there, from, &its_tag, &bytes));
  if (!there) {
    *from = -1;
    return RG_SUCCESS;
  }
  return rgi_receive_ints(context(), *from, tag, call, count, ints);
}

/* Where a taker has died before it could call those that it took, only they know. */
static int ask_forsaken(const char *call) {
  for (int i = 0; i < books.ledger->size - 1; i++) {
    uint64_t number;
    int ints[DOUBT_INTS];
    if (!rgi_ledger_must_ask(books.ledger, i, &number))
      continue;
    rgi_put_number(ints, number);
    int error = send(call, i, CALL, ints, DOUBT_INTS);
    if (error && error != RG_ERR_PROC_FAILED)
      return error;
  }
  return RG_SUCCESS;
}

static int keep(const char *call, int *lost) {
  rgi_wait w;
  rgi_wait_start_patient(&w, call);
  for (;;) {
    uint32_t bell = atomic_load(&rgi_my_bell()->value);
    int from, count, *question, over = 0;
    RGI_TRY(look(call, ASK, &from, &count, &question));
    RGI_TRY(ask_forsaken(call));
    if (from < 0)
      RGI_TRY(rgi_ledger_over(books.ledger, &over, lost));
    if (over)
      return end_all(call, *lost);
    if (from < 0) {
      rgi_requests_progress();
      RGI_TRY(rgi_wait_bell(&w, rgi_my_bell(), bell, 0));
      continue;
    }
    int error = serve(call, question, from);
    free(question);
    if (error && error != RG_ERR_PROC_FAILED) /* it asks no more */
      return error;
  }
}

/* --- sleeping --------------------------------------------------------------------- */

/* What one that sleeps finds out by itself. over: nobody will call any more; lost: since all
 * that worked have died; forsaken: who took it died and may not have called. */
typedef struct {
  int over, lost, forsaken;
} outlook;

static int look_out(const char *call, outlook *o) {
  *o = (outlook){0};
  if (!books.ledger)
    return rgi_is_dead(keeper()) ? rgi_orphans_over(call, &o->over, &o->lost) : RG_SUCCESS;
  o->forsaken = rgi_ledger_forsaken(books.ledger, rgi_rt.rank);
  return rgi_ledger_over(books.ledger, &o->over, &o->lost);
}

/* A letter that the dead had on the way comes too late when its draw was given back. */
static int is_late(const int letter[]) {
  uint64_t number = rgi_number_in(letter + RGI_LETTER_NUMBER);
  return number && number == books.given_back;
}

/* A message; *ints is what is left of it: a letter, or NULL for a word that is dealt with. */
static int read_call(const char *call, int count, int **ints) {
  int error = RG_SUCCESS;
  if (count == DOUBT_INTS) {
    books.given_back = rgi_number_in(*ints);
    if (books.given_back) /* others may have heard of it, and wait */
      rgi_mesh_revoke(books.given_back);
    error = tell(call, GIVE_BACK, rgi_rt.rank, books.given_back);
  } else if (!is_late(*ints)) {
    return RG_SUCCESS;
  }
  free(*ints);
  *ints = NULL;
  return error;
}

/* A look at the inbox comes after that at the books: what was sent before is there. */
static int await_call(const char *call, int *lost, int **ints) {
  rgi_wait w;
  rgi_wait_start_patient(&w, call);
  for (;;) {
    uint32_t bell = atomic_load(&rgi_my_bell()->value);
    int from, count;
    outlook o;
    RGI_TRY(look_out(call, &o));
    RGI_TRY(look(call, CALL, &from, &count, ints));
    if (from >= 0 && count > LOST_INTS) {
      int error = read_call(call, count, ints);
      if (error || *ints)
        return error;
      continue;
    }
    if (from >= 0 || o.over) {
      *lost = from >= 0 ? count == LOST_INTS : o.lost;
      if (from >= 0)
        free(*ints);
      *ints = NULL;
      return RG_SUCCESS;
    }
    rgi_requests_progress();
    if (o.forsaken)
      RGI_TRY(rgi_books_put(call, rgi_rt.rank));
    else
      RGI_TRY(rgi_wait_bell(&w, rgi_my_bell(), bell, !books.kept && !rgi_requests_busy()));
  }
}

int rgi_books_sleep(const char *call, int **ints) {
  int lost = 0;
  *ints = NULL;
  if (books.kept && rgi_rt.rank == keeper())
    RGI_TRY(keep(call, &lost));
  else
    RGI_TRY(await_call(call, &lost, ints));
  return lost ? rgi_error(RG_ERR_PROC_FAILED, "%s: all processes outside the reserve have died",
                          call)
              : RG_SUCCESS;
}

int rgi_books_call(const char *call, int rank, const int ints[], int count) {
  return send(call, rank, CALL, ints, count);
}
