/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * On one node the table lies in a slot of the arena. Each process changes it by itself and rings
 * the doorbells of its node; a process that sleeps looks at the table whenever its doorbell
 * rings. On several nodes the last process of the world, the holder, has the table in its own
 * memory and is never acquired. The others send it queries, which it serves while it is
 * itself parked. On both kinds of job a process that sleeps is called by a message (NOTIFY).
 *
 * What happens after a death:
 *  - The acquirer died before it sent the message. On one node the acquired process sees that in
 *    the table and sleeps again. On several nodes the holder asks it, once for each acquisition
 *    (query_abandoned). A process that still sleeps then answers with GIVE_BACK, and drops a
 *    message of that acquisition that comes later.
 *  - The holder died. No process can be acquired any more. The processes that sleep find the
 *    end of the reserve by themselves: reserve_failover.h.
 *  - A member of the group that acquires died. The failure scope of that operation must not cut
 *    an exchange with the directory short: an acquired process that is never told would be
 *    neither in reserve nor at work. So all messages here are sent and received outside of any
 *    scope (leave_scope). */
#include "intercomm/reserve_directory.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "formation/group.h"
#include "formation/group_tree.h"
#include "intercomm/reserve_failover.h"
#include "intercomm/reserve_message.h"
#include "message/message.h"
#include "noded/overlay_client.h"
#include "progress/request.h"
#include "progress/slot.h"
#include "progress/wait.h"
#include "runtime/runtime.h"
#include "shm/failure.h"
#include "shm/node.h"
#include "shm/process.h"

/* Tags: to a process that sleeps; to the holder; process 0's n; the holder's answers. Each query
 * has a tag of its own for the answer: no query takes the answer to one that was given up. */
enum { NOTIFY, QUERY, OPENING, ANSWER };
#define ANSWERS (1 << 20)

/* What the holder is asked: {what, argument, number in two ints, tag of the answer}. */
enum { ACQUIRE, RELEASE, LEAVE, JOIN, COUNT, GIVE_BACK };
enum { WHAT, ARGUMENT, NUMBER, REPLY = NUMBER + 2, QUERY_INTS };

/* The end of the reserve, to a process that sleeps: no int, or one where all processes that
 * worked have died. */
#define LOST_INTS 1

/* The holder's question to an acquired process whose acquirer has died: the acquisition's number,
 * in two ints. The message to an acquired process is longer than this. */
#define DOUBT_INTS 2
_Static_assert((int)DOUBT_INTS < (int)RGI_RESERVE_MESSAGE_LEAST, "told apart by length");

static struct {
  rgi_reserve_table *table;    /* NULL: the holder has it */
  int at_holder;               /* on several nodes: the last process has it */
  unsigned long epoch, opened; /* how often in this start of the library */
  uint64_t given_back;         /* the last acquisition that this process gave itself back from */
  unsigned asked;              /* queries that have an answer */
} directory;

static uint64_t reserve_context(void) {
  return rgi_mix_bits(0x72657365727665u);
}

static int holder_rank(void) {
  return rgi_runtime.size - 1;
}

/* Returns the scope to go back to. */
static rgi_failure_scope leave_scope(void) {
  rgi_failure_scope scope = rgi_failure_scope_now;
  rgi_failure_scope_now = (rgi_failure_scope){0};
  return scope;
}

static int send_ints(const char *call, int to, int tag, const int ints[], int count) {
  rgi_failure_scope scope = leave_scope();
  int error = rgi_message_deliver(
      &(rgi_message_envelope){reserve_context(), to, tag, (size_t)count * sizeof *ints}, ints,
      call);
  rgi_failure_scope_now = scope;
  return error;
}

static int receive_ints(const char *call, int from, int tag, int **ints) {
  int count;
  rgi_failure_scope scope = leave_scope();
  int error = rgi_group_tree_receive(reserve_context(), from, tag, call, &count, ints);
  rgi_failure_scope_now = scope;
  return error;
}

/* The processes that sleep look at the table themselves. */
static void ring_all(void) {
  for (int i = 0; i < rgi_node.n; i++)
    rgi_node_ring(i);
}

/* --- opening ------------------------------------------------------------------ */

/* The first process to arrive makes the table. Process 0 initializes it, or one that finds process
 * 0 dead. */
static int open_in_arena(const char *call, int *n) {
  uint64_t slot, key;
  void *memory;
  rgi_wait w;
  key = rgi_mix_bits(reserve_context() + ++directory.opened);
  RGI_TRY(rgi_slot_attach(key, rgi_runtime.size, rgi_reserve_table_bytes(rgi_runtime.size), &slot,
                          &memory));
  rgi_reserve_table *l = memory;
  rgi_wait_start_unscoped(&w, call, 0);
  while (!atomic_load(&l->known)) {
    if (rgi_runtime.rank == 0 || rgi_process_is_dead(0))
      RGI_TRY(rgi_reserve_table_init_once(l, rgi_runtime.size, *n));
    else
      RGI_TRY(rgi_wait_more(&w));
  }
  *n = l->n;
  directory.table = l; /* the slot stays: the arena goes as a whole */
  return RG_SUCCESS;
}

/* Process 0's n, on all processes. */
static int receive_count(const char *call, rg_group world, int *n) {
  int count = 1, *received = n;
  RGI_TRY(rgi_group_check_member(call, world)); /* the members' deaths end the waits */
  RGI_TRY(rgi_group_tree_broadcast(world, 0, call, &count, &received));
  *n = received[0];
  if (received != n)
    free(received);
  return RG_SUCCESS;
}

/* The same where deaths are survived. A process may open the reserve and die before another one
 * opens it, so each waits for process 0 only. If that has died each process's own n counts. */
static int receive_count_surviving(const char *call, int *n) {
  int *received = NULL, error = RG_SUCCESS;
  for (int i = 1; rgi_runtime.rank == 0 && i < rgi_runtime.size; i++) {
    int one = send_ints(call, i, OPENING, n, 1);
    error = error || one == RG_ERR_PROC_FAILED ? error : one;
  }
  if (rgi_runtime.rank > 0)
    error = receive_ints(call, 0, OPENING, &received);
  if (received)
    *n = received[0];
  free(received);
  return error == RG_ERR_PROC_FAILED ? RG_SUCCESS : error;
}

static int open_at_holder(const char *call, rg_group world, int *n) {
  RGI_TRY(rgi_overlay_exists() ? receive_count_surviving(call, n) : receive_count(call, world, n));
  directory.at_holder = 1;
  if (*n > 0 && *n < rgi_runtime.size)
    RGI_TRY(rgi_reserve_failover_open(call));
  if (rgi_runtime.rank != holder_rank() || *n < 1 || *n >= rgi_runtime.size)
    return RG_SUCCESS;
  directory.table = calloc(1, rgi_reserve_table_bytes(rgi_runtime.size));
  if (!directory.table)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call, rgi_runtime.size);
  rgi_reserve_table_init(directory.table, rgi_runtime.size, *n, 1);
  return RG_SUCCESS;
}

int rgi_reserve_directory_open(const char *call, rg_group world, int *n) {
  if (directory.epoch != rgi_runtime.epoch)
    directory.opened = 0;
  directory.epoch = rgi_runtime.epoch;
  return rgi_node.count == 1 ? open_in_arena(call, n) : open_at_holder(call, world, n);
}

void rgi_reserve_directory_close(void) {
  if (directory.at_holder)
    free(directory.table);
  rgi_reserve_failover_close();
  directory.table = NULL;
  directory.at_holder = 0;
}

/* --- queries --------------------------------------------------------- */

static int send_query(const char *call, int what, int argument, uint64_t number, int reply) {
  int query[QUERY_INTS] = {[WHAT] = what, [ARGUMENT] = argument, [REPLY] = reply};
  rgi_group_tree_put_uint64(query + NUMBER, number);
  if (rgi_process_is_dead(holder_rank()))
    return rgi_error(RG_ERR_PROC_FAILED,
                     "%s: the process that keeps the reserve's directory has died", call);
  return send_ints(call, holder_rank(), QUERY, query, QUERY_INTS);
}

/* {0, 0} where the holder is dead: no process can be acquired. */
static int send_query_and_wait(const char *call, int what, int argument, uint64_t number,
                               int **ints) {
  int reply = ANSWER + (int)(directory.asked++ % ANSWERS),
      error = send_query(call, what, argument, number, reply);
  if (!error)
    error = receive_ints(call, holder_rank(), reply, ints);
  if (error != RG_ERR_PROC_FAILED || !rgi_process_is_dead(holder_rank()))
    return error;
  *ints = calloc(2, sizeof **ints);
  return *ints ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
}

/* A dead holder need not be told: success. */
static int tell_holder(const char *call, int what, int argument, uint64_t number) {
  int error =
      rgi_process_is_dead(holder_rank()) ? RG_SUCCESS : send_query(call, what, argument, number, 0);
  return error == RG_ERR_PROC_FAILED ? RG_SUCCESS : error;
}

static int try_to_acquire(const char *call, rgi_reserve_table_wish *wish) {
  int *answer;
  if (directory.table)
    return rgi_reserve_table_acquire(directory.table, wish);
  RGI_TRY(send_query_and_wait(call, ACQUIRE, wish->n, wish->number, &answer));
  wish->there = answer[0];
  wish->coming = answer[1];
  if (answer[0] == wish->n)
    memcpy(wish->ranks, answer + 2, (size_t)wish->n * sizeof *wish->ranks);
  free(answer);
  return RG_SUCCESS;
}

/* Waits for the processes whose acquisition by another group has failed: they are on the way
 * back. */
int rgi_reserve_directory_acquire(const char *call, rgi_reserve_table_wish *wish) {
  rgi_wait w;
  rgi_wait_start(&w, call, -1);
  for (;;) {
    RGI_TRY(try_to_acquire(call, wish));
    if (wish->there >= wish->n || wish->there + wish->coming < wish->n)
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_more(&w));
  }
}

static int change_state(const char *call, int rank, int what, rgi_reserve_table_state state) {
  if (!directory.table)
    return tell_holder(call, what, rank, 0);
  int error = rgi_reserve_table_set(directory.table, rank, state);
  ring_all();
  return error;
}

int rgi_reserve_directory_release(const char *call, int rank) {
  return change_state(call, rank, RELEASE, RGI_RESERVE_SLEEPING);
}

int rgi_reserve_directory_leave(const char *call) {
  RGI_TRY(rgi_reserve_failover_leave(call));
  return change_state(call, rgi_runtime.rank, LEAVE, RGI_RESERVE_LEFT);
}

int rgi_reserve_directory_join(const char *call) {
  RGI_TRY(rgi_reserve_failover_join(call));
  return change_state(call, rgi_runtime.rank, JOIN, RGI_RESERVE_WORKING);
}

int rgi_reserve_directory_count(const char *call, int *sleeping) {
  int *answer;
  rgi_process_check_now();
  if (directory.table) {
    *sleeping = rgi_reserve_table_count(directory.table);
    return RG_SUCCESS;
  }
  RGI_TRY(send_query_and_wait(call, COUNT, 0, 0, &answer));
  *sleeping = answer[0];
  free(answer);
  return RG_SUCCESS;
}

/* --- the holder ------------------------------------------------------------------- */

static int serve_acquire(const char *call, const int query[QUERY_INTS], int to) {
  int size = directory.table->size, n = query[ARGUMENT] < size ? query[ARGUMENT] : size;
  int *answer = malloc(((size_t)size + 2) * sizeof *answer);
  if (!answer)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call, size);
  rgi_reserve_table_wish wish = {.n = n,
                                 .acquirer = to,
                                 .number = rgi_group_tree_get_uint64(query + NUMBER),
                                 .ranks = answer + 2};
  int error = rgi_reserve_table_acquire(directory.table, &wish);
  answer[0] = wish.there;
  answer[1] = wish.coming;
  if (!error)
    error = send_ints(call, to, query[REPLY], answer, 2 + (answer[0] == n ? n : 0));
  free(answer);
  return error;
}

static int serve_query(const char *call, const int query[QUERY_INTS], int from) {
  static const rgi_reserve_table_state states[] = {
      [RELEASE] = RGI_RESERVE_SLEEPING, [LEAVE] = RGI_RESERVE_LEFT, [JOIN] = RGI_RESERVE_WORKING};
  int answer;
  switch (query[WHAT]) {
  case GIVE_BACK:
    return rgi_reserve_table_give_back(directory.table, from,
                                       rgi_group_tree_get_uint64(query + NUMBER));
  case ACQUIRE:
    return serve_acquire(call, query, from);
  case COUNT:
    answer = rgi_reserve_table_count(directory.table);
    return send_ints(call, from, query[REPLY], &answer, 1);
  default:
    return rgi_reserve_table_set(directory.table, query[WHAT] == RELEASE ? query[ARGUMENT] : from,
                                 states[query[WHAT]]);
  }
}

/* Tells all processes that may still sleep that the reserve has ended. */
static int end_all(const char *call, int lost) {
  int error = RG_SUCCESS, end[LOST_INTS] = {1};
  for (int i = 0; i < directory.table->size - 1; i++) {
    uint32_t state = atomic_load(&directory.table->of[i].state);
    if ((state == RGI_RESERVE_SLEEPING || state == RGI_RESERVE_ACQUIRED) &&
        !rgi_process_is_dead(i)) {
      int one = send_ints(call, i, NOTIFY, end, lost ? LOST_INTS : 0);
      error = error || one == RG_ERR_PROC_FAILED ? error : one;
    }
  }
  return error;
}

/* A message for this process, or *from is -1. */
static int probe_message(const char *call, int tag, int *from, int *count, int **ints) {
  int there = 0;
  rgi_message_envelope wanted = {reserve_context(), RGI_ANY, tag, 0}, found = {.peer = -1};
  RGI_TRY(rgi_message_probe(&wanted, &there, &found, NULL));
  *from = found.peer;
  if (!there)
    return RG_SUCCESS;
  return rgi_group_tree_receive(reserve_context(), *from, tag, call, count, ints);
}

/* Only the acquired processes know whether an acquirer that has died had sent them the message. */
static int query_abandoned(const char *call) {
  for (int i = 0; i < directory.table->size - 1; i++) {
    uint64_t number;
    int ints[DOUBT_INTS];
    if (!rgi_reserve_table_must_query(directory.table, i, &number))
      continue;
    rgi_group_tree_put_uint64(ints, number);
    int error = send_ints(call, i, NOTIFY, ints, DOUBT_INTS);
    if (error && error != RG_ERR_PROC_FAILED)
      return error;
  }
  return RG_SUCCESS;
}

static int serve_directory(const char *call, int *lost) {
  rgi_wait w;
  rgi_wait_start_patient(&w, call);
  for (;;) {
    uint32_t bell = atomic_load(&rgi_node_bell()->value);
    int from, count, *query, over = 0;
    RGI_TRY(probe_message(call, QUERY, &from, &count, &query));
    RGI_TRY(query_abandoned(call));
    if (from < 0)
      RGI_TRY(rgi_reserve_table_finished(directory.table, &over, lost));
    if (over)
      return end_all(call, *lost);
    if (from < 0) {
      rgi_requests_progress();
      RGI_TRY(rgi_wait_bell(&w, rgi_node_bell(), bell, 0));
      continue;
    }
    int error = serve_query(call, query, from);
    free(query);
    if (error && error != RG_ERR_PROC_FAILED) /* a dead process needs no answer */
      return error;
  }
}

/* --- sleeping --------------------------------------------------------------------- */

/* What a process that sleeps finds out by itself. over: no process can acquire it any more; lost:
 * since all that worked have died; abandoned: its acquirer died, and may not have sent the
 * message. */
typedef struct {
  int over, lost, abandoned;
} sleep_status;

static int check_status(const char *call, sleep_status *o) {
  *o = (sleep_status){0};
  if (!directory.table)
    return rgi_process_is_dead(holder_rank())
               ? rgi_reserve_failover_finished(call, &o->over, &o->lost)
               : RG_SUCCESS;
  o->abandoned = rgi_reserve_table_abandoned(directory.table, rgi_runtime.rank);
  return rgi_reserve_table_finished(directory.table, &o->over, &o->lost);
}

/* An acquirer's message may come after its death, when the process has given itself back. */
static int is_late(const int ints[]) {
  uint64_t number = rgi_reserve_message_number(ints);
  return number && number == directory.given_back;
}

/* Deals with the holder's question and with a late message: *ints is NULL then. */
static int filter_notice(const char *call, int count, int **ints) {
  int error = RG_SUCCESS;
  if (count == DOUBT_INTS) {
    directory.given_back = rgi_group_tree_get_uint64(*ints);
    if (directory.given_back) /* other acquired processes may have the message, and wait */
      rgi_overlay_revoke(directory.given_back);
    error = tell_holder(call, GIVE_BACK, rgi_runtime.rank, directory.given_back);
  } else if (!is_late(*ints)) {
    return RG_SUCCESS;
  }
  free(*ints);
  *ints = NULL;
  return error;
}

/* Looks at the table first and into the inbox second: what was sent before the table changed is
 * in the inbox then. */
static int await_notice(const char *call, int *lost, int **ints) {
  rgi_wait w;
  rgi_wait_start_patient(&w, call);
  for (;;) {
    uint32_t bell = atomic_load(&rgi_node_bell()->value);
    int from, count;
    sleep_status o;
    RGI_TRY(check_status(call, &o));
    RGI_TRY(probe_message(call, NOTIFY, &from, &count, ints));
    if (from >= 0 && count > LOST_INTS) {
      int error = filter_notice(call, count, ints);
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
    if (o.abandoned)
      RGI_TRY(rgi_reserve_directory_release(call, rgi_runtime.rank));
    else
      RGI_TRY(
          rgi_wait_bell(&w, rgi_node_bell(), bell, !directory.at_holder && !rgi_requests_busy()));
  }
}

int rgi_reserve_directory_sleep(const char *call, int **ints) {
  int lost = 0;
  *ints = NULL;
  if (directory.at_holder && rgi_runtime.rank == holder_rank())
    RGI_TRY(serve_directory(call, &lost));
  else
    RGI_TRY(await_notice(call, &lost, ints));
  return lost ? rgi_error(RG_ERR_PROC_FAILED, "%s: all processes outside the reserve have died",
                          call)
              : RG_SUCCESS;
}

int rgi_reserve_directory_notify(const char *call, int rank, const int ints[], int count) {
  return send_ints(call, rank, NOTIFY, ints, count);
}
