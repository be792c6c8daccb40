/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * On one node, and in a job that survives, each process reads and changes the table by itself
 * (reserve_entry.h): no process keeps it, so none is missing when it dies. In a job on several
 * nodes that does not survive, the last process of the world, the holder, has the table in its own
 * memory and is never acquired. The others send it queries, which it serves while it is itself
 * parked. In all jobs a process that sleeps is called by a message (NOTIFY), and told so of the
 * end.
 *
 * The end is found by the last process that goes to sleep or leaves, or by those that sleep when
 * they hear of a death. A process that leaves may not know of a death yet that others knew before
 * it left. So after a death those that sleep look again from time to time: each asks about one
 * process that works (reserve_table.c).
 *
 * What happens after a death:
 *  - The acquirer died before it sent the message. The acquired process sees that in its own entry
 *    and sleeps again. The message may come later: it is dropped.
 *  - A member of the group that acquires died. The failure scope of that operation must not cut
 *    an exchange with the directory short: an acquired process that is never told would be
 *    neither in reserve nor at work. So all messages here are sent and received outside of any
 *    scope (leave_scope). */
#include "intercomm/reserve_directory.h"

#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mix.h"
#include "base/spare.h"
#include "formation/group.h"
#include "formation/group_tree.h"
#include "intercomm/reserve_message.h"
#include "message/message.h"
#include "noded/client/overlay_client.h"
#include "progress/request.h"
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
enum { ACQUIRE, RELEASE, LEAVE, JOIN, COUNT };
enum { WHAT, ARGUMENT, NUMBER, REPLY = NUMBER + 2, QUERY_INTS };

/* The end of the reserve, to a process that sleeps: no int, or one where all processes that
 * worked have died. The message to an acquired process is longer. */
#define LOST_INTS 1

/* After a death a process that sleeps looks so often whether the reserve has ended: longer where
 * many processes may all ask the one that works. */
#define LOOK_SECONDS (0.5 * (1 + rgi_runtime.size / 1000))

static struct {
  int direct;          /* the caller reads and changes the table; else the holder does */
  int held;            /* the last process is the holder */
  uint64_t given_back; /* the last acquisition that this process gave itself back from */
  unsigned asked;      /* queries that have an answer */
  /* Of a process's threads one at a time: what the table has seen, and its connections, are one. */
  pthread_mutex_t lock;
} directory = {.lock = PTHREAD_MUTEX_INITIALIZER};

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
  int error = rgi_message_deliver(&(rgi_message_envelope){.context = reserve_context(),
                                                          .peer = to,
                                                          .tag = tag,
                                                          .bytes = (size_t)count * sizeof *ints},
                                  ints, call);
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

/* --- opening ------------------------------------------------------------------ */

/* Process 0's n, on all processes. */
static int receive_count(const char *call, rg_group world, int *n) {
  int count = 1, *received = n;
  RGI_TRY(rgi_group_check_member(call, world)); /* the members' deaths end the waits */
  RGI_TRY(rgi_group_tree_broadcast(world, 0, call, &count, &received));
  *n = received[0];
  if (received != n)
    rgi_spare_free(received);
  return RG_SUCCESS;
}

/* As receive_count where deaths are survived. A process may open the reserve and die before another
 * one opens it, so each waits for process 0 only. If that has died each process's own n counts. */
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
  rgi_spare_free(received);
  return error == RG_ERR_PROC_FAILED ? RG_SUCCESS : error;
}

int rgi_reserve_directory_open(const char *call, rg_group world, int *n) {
  int spread = rgi_node.count == 1 || rgi_overlay_exists();
  RGI_TRY(spread ? receive_count_surviving(call, n) : receive_count(call, world, n));
  directory.held = !spread;
  directory.direct = spread || rgi_runtime.rank == holder_rank();
  if (!directory.direct || *n < 1 || *n >= rgi_runtime.size)
    return RG_SUCCESS;
  return rgi_reserve_table_open(rgi_runtime.size, *n, spread);
}

void rgi_reserve_directory_close(void) {
  if (directory.direct)
    rgi_reserve_table_close();
  directory.direct = directory.held = 0;
}

/* --- queries --------------------------------------------------------- */

static int send_query(const char *call, int what, int argument, uint64_t number, int reply) {
  int query[QUERY_INTS] = {[WHAT] = what, [ARGUMENT] = argument, [REPLY] = reply};
  rgi_group_tree_put_uint64(query + NUMBER, number);
  return send_ints(call, holder_rank(), QUERY, query, QUERY_INTS);
}

static int send_query_and_wait(const char *call, int what, int argument, uint64_t number,
                               int **ints) {
  int reply = ANSWER + (int)(directory.asked++ % ANSWERS);
  RGI_TRY(send_query(call, what, argument, number, reply));
  return receive_ints(call, holder_rank(), reply, ints);
}

static int try_alone(const char *call, rgi_reserve_table_wish *wish) {
  int *answer;
  if (directory.direct)
    return rgi_reserve_table_acquire(wish);
  RGI_TRY(send_query_and_wait(call, ACQUIRE, wish->n, wish->number, &answer));
  wish->there = answer[0];
  wish->coming = answer[1];
  if (answer[0] == wish->n)
    memcpy(wish->ranks, answer + 2, (size_t)wish->n * sizeof *wish->ranks);
  rgi_spare_free(answer);
  return RG_SUCCESS;
}

static int try_to_acquire(const char *call, rgi_reserve_table_wish *wish) {
  pthread_mutex_lock(&directory.lock);
  int error = try_alone(call, wish);
  pthread_mutex_unlock(&directory.lock);
  return error;
}

/* Waits for the processes whose acquisition by another group has failed: they are on the way
 * back. */
int rgi_reserve_directory_acquire(const char *call, rgi_reserve_table_wish *wish) {
  rgi_wait wait;
  rgi_wait_start(&wait, call, -1);
  for (;;) {
    RGI_TRY(try_to_acquire(call, wish));
    if (wish->there >= wish->n || wish->there + wish->coming < wish->n)
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_more(&wait));
  }
}

/* Tells all processes that still sleep that the reserve has ended. */
static int end_all(const char *call, int lost) {
  int error = RG_SUCCESS, end[LOST_INTS] = {1};
  for (int i = 0; i < rgi_runtime.size; i++) {
    if (!rgi_reserve_table_slept(i))
      continue;
    int one = send_ints(call, i, NOTIFY, end, lost ? LOST_INTS : 0);
    error = error || one == RG_ERR_PROC_FAILED ? error : one;
  }
  return error;
}

/* The first process that finds the end tells the others. */
static int look_for_end(const char *call, int *over, int *lost) {
  RGI_TRY(rgi_reserve_table_finished(over, lost));
  return *over ? end_all(call, *lost) : RG_SUCCESS;
}

static int release_alone(const char *call, int rank) {
  if (!directory.direct)
    return send_query(call, RELEASE, rank, 0, 0);
  return rank == rgi_runtime.rank ? rgi_reserve_table_set(rank, RGI_RESERVE_SLEEPING)
                                  : rgi_reserve_table_give_back(rank, rgi_runtime.rank);
}

int rgi_reserve_directory_release(const char *call, int rank) {
  pthread_mutex_lock(&directory.lock);
  int error = release_alone(call, rank);
  pthread_mutex_unlock(&directory.lock);
  return error;
}

int rgi_reserve_directory_leave(const char *call) {
  int over, lost;
  if (!directory.direct)
    return send_query(call, LEAVE, 0, 0, 0);
  RGI_TRY(rgi_reserve_table_set(rgi_runtime.rank, RGI_RESERVE_LEFT));
  return look_for_end(call, &over, &lost);
}

int rgi_reserve_directory_join(const char *call) {
  return directory.direct ? rgi_reserve_table_set(rgi_runtime.rank, RGI_RESERVE_WORKING)
                          : send_query(call, JOIN, 0, 0, 0);
}

static int count_alone(const char *call, int *sleeping) {
  int *answer;
  if (directory.direct)
    return rgi_reserve_table_count(sleeping);
  RGI_TRY(send_query_and_wait(call, COUNT, 0, 0, &answer));
  *sleeping = answer[0];
  rgi_spare_free(answer);
  return RG_SUCCESS;
}

int rgi_reserve_directory_count(const char *call, int *sleeping) {
  pthread_mutex_lock(&directory.lock);
  int error = count_alone(call, sleeping);
  pthread_mutex_unlock(&directory.lock);
  return error;
}

/* --- the holder ------------------------------------------------------------------- */

static int serve_acquire(const char *call, const int query[QUERY_INTS], int to) {
  int size = rgi_runtime.size, n = query[ARGUMENT] < size ? query[ARGUMENT] : size;
  int *answer = rgi_spare_alloc(((size_t)size + 2) * sizeof *answer);
  if (!answer)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call, size);
  rgi_reserve_table_wish wish = {.n = n,
                                 .acquirer = to,
                                 .number = rgi_group_tree_get_uint64(query + NUMBER),
                                 .ranks = answer + 2};
  int error = rgi_reserve_table_acquire(&wish);
  answer[0] = wish.there;
  answer[1] = wish.coming;
  if (!error)
    error = send_ints(call, to, query[REPLY], answer, 2 + (answer[0] == n ? n : 0));
  rgi_spare_free(answer);
  return error;
}

static int serve_query(const char *call, const int query[QUERY_INTS], int from) {
  int answer;
  switch (query[WHAT]) {
  case ACQUIRE:
    return serve_acquire(call, query, from);
  case COUNT:
    RGI_TRY(rgi_reserve_table_count(&answer));
    return send_ints(call, from, query[REPLY], &answer, 1);
  case LEAVE:
    return rgi_reserve_table_set(from, RGI_RESERVE_LEFT);
  case JOIN:
    return rgi_reserve_table_set(from, RGI_RESERVE_WORKING);
  default: /* RELEASE */
    return query[ARGUMENT] == from ? rgi_reserve_table_set(from, RGI_RESERVE_SLEEPING)
                                   : rgi_reserve_table_give_back(query[ARGUMENT], from);
  }
}

/* A message for this process, or *from is -1. */
static int probe_message(const char *call, int tag, int *from, int *count, int **ints) {
  int there = 0;
  rgi_message_envelope wanted = {.context = reserve_context(), .peer = RGI_ANY, .tag = tag},
                       found = {.peer = -1};
  RGI_TRY(rgi_message_probe(&wanted, &there, &found, NULL));
  *from = found.peer;
  if (!there)
    return RG_SUCCESS;
  return rgi_group_tree_receive(reserve_context(), *from, tag, call, count, ints);
}

static int serve_directory(const char *call, int *lost) {
  rgi_wait wait;
  rgi_wait_start_patient(&wait, call);
  for (;;) {
    uint32_t bell = atomic_load(&rgi_node_bell()->value);
    int from, count, *query, over = 0;
    RGI_TRY(probe_message(call, QUERY, &from, &count, &query));
    if (from < 0) {
      RGI_TRY(look_for_end(call, &over, lost));
      if (over)
        return RG_SUCCESS;
      rgi_requests_progress();
      RGI_TRY(rgi_wait_bell(&wait, rgi_node_bell(), bell, 0));
      continue;
    }
    int error = serve_query(call, query, from);
    rgi_spare_free(query);
    if (error && error != RG_ERR_PROC_FAILED) /* a dead process needs no answer */
      return error;
  }
}

/* --- sleeping --------------------------------------------------------------------- */

/* What a process that sleeps finds out by itself. */
typedef struct {
  int over, lost;  /* no process can acquire it any more; since all that worked have died */
  int abandoned;   /* its acquirer died, and may not have sent the message */
  uint64_t number; /* of that operation */
  int deaths;      /* that were known at the last look for the end; -1: it is to look */
  double next;     /* when it is to look again, where there have been deaths */
} sleep_status;

static int check_status(const char *call, sleep_status *status) {
  int deaths = rgi_process_deaths();
  double now = rgi_clock_now();
  if (!directory.direct)
    return RG_SUCCESS;
  status->abandoned = rgi_reserve_table_abandoned(&status->number);
  if (status->abandoned || (deaths == status->deaths && (!deaths || now < status->next)))
    return RG_SUCCESS;
  status->deaths = deaths;
  status->next = now + LOOK_SECONDS;
  return look_for_end(call, &status->over, &status->lost);
}

/* An acquirer's message may come after its death, when the process has given itself back. */
static int is_late(const int ints[]) {
  uint64_t number = rgi_reserve_message_number(ints);
  return number && number == directory.given_back;
}

/* Other processes acquired by the same operation may have the message, and wait. */
static int give_back_oneself(sleep_status *status) {
  if (status->number) {
    directory.given_back = status->number;
    rgi_overlay_revoke(status->number);
  }
  status->deaths = -1;
  return rgi_reserve_table_set(rgi_runtime.rank, RGI_RESERVE_SLEEPING);
}

/* The process was called (*ints), or the reserve has ended (*lost). */
static int take_notice(int count, int **ints, int *lost, int *noticed) {
  *noticed = count <= LOST_INTS || !is_late(*ints);
  if (*noticed && count > LOST_INTS)
    return RG_SUCCESS;
  *lost = count == LOST_INTS;
  rgi_spare_free(*ints);
  *ints = NULL;
  return RG_SUCCESS;
}

/* Looks at the table first and into the inbox second: what was sent before the table changed is
 * in the inbox then. */
static int await_notice(const char *call, int *lost, int **ints) {
  rgi_wait wait;
  sleep_status status = {.deaths = -1};
  rgi_wait_start_patient(&wait, call);
  for (;;) {
    uint32_t bell = atomic_load(&rgi_node_bell()->value);
    int from, count, noticed = 0;
    RGI_TRY(check_status(call, &status));
    RGI_TRY(probe_message(call, NOTIFY, &from, &count, ints));
    if (from >= 0)
      RGI_TRY(take_notice(count, ints, lost, &noticed));
    if (noticed)
      return RG_SUCCESS;
    if (status.over) {
      *lost = status.lost;
      return RG_SUCCESS;
    }
    rgi_requests_progress();
    if (from >= 0)
      continue;
    if (status.abandoned)
      RGI_TRY(give_back_oneself(&status));
    else
      RGI_TRY(
          rgi_wait_bell(&wait, rgi_node_bell(), bell, rgi_node.count == 1 && !rgi_requests_busy()));
  }
}

int rgi_reserve_directory_sleep(const char *call, int **ints) {
  int lost = 0;
  *ints = NULL;
  if (directory.held && directory.direct)
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
