/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A master hands tasks out to workers, and receives their results from any source. It goes on
 * without workers that have died: their tasks are handed out again. When the master has died, the
 * workers shrink, and the first of them is the next one: each has kept what it has done. See
 * mortal.h. */
#include <stdlib.h>
#include <string.h>

#include "mortal.h"

enum { TASK = 1, RESULT = 2, NONE = -1, MOST_RANKS = 64, MOST_WORDS = 30000 };

typedef struct {
  uint64_t task, value, padding[MOST_WORDS];
} message;

static uint64_t *results; /* of each task; 0: not known */
static message buffer;

static uint64_t result_of(int task) {
  return mortal_draw((uint64_t)task, 3) | 1;
}

/* Short ones and long ones. */
static int bytes_of(int task) {
  static const int words[] = {0, 0, 100, 1000, MOST_WORDS};
  return (int)(sizeof(uint64_t) * (2 + (unsigned)words[mortal_draw((uint64_t)task, 4) % 5]));
}

/* --- workers ------------------------------------------------------------------------------- */

static int work(MPI_Comm comm) {
  for (;;) {
    int task;
    MORTAL_TRY(MPI_Recv(&task, 1, MPI_INT, 0, TASK, comm, MPI_STATUS_IGNORE));
    if (task == NONE)
      return MPI_SUCCESS;
    results[task] = result_of(task);
    buffer.task = (uint64_t)task;
    buffer.value = buffer.padding[MOST_WORDS - 1] = results[task];
    MORTAL_TRY(MPI_Send(&buffer, bytes_of(task), MPI_BYTE, 0, RESULT, comm));
  }
}

/* --- the master ---------------------------------------------------------------------------- */

typedef struct {
  MPI_Comm comm;
  int n, left, next;   /* tasks without a result; the next one to look at */
  int has[MOST_RANKS]; /* the task of each worker, or NONE */
  int is_dead[MOST_RANKS];
} master;

static void bury(master *m, int worker) {
  m->is_dead[worker] = 1;
  m->has[worker] = NONE;
}

/* Whom MPI has reported. */
static int acknowledge(master *m) {
  MPI_Group failed, members;
  int n;
  MORTAL_TRY(MPIX_Comm_failure_ack(m->comm));
  MORTAL_TRY(MPIX_Comm_failure_get_acked(m->comm, &failed));
  MPI_Comm_group(m->comm, &members);
  MPI_Group_size(failed, &n);
  for (int i = 0; i < n; i++) {
    int worker;
    MPI_Group_translate_ranks(failed, 1, &i, members, &worker);
    bury(m, worker);
  }
  MPI_Group_free(&failed);
  MPI_Group_free(&members);
  return MPI_SUCCESS;
}

/* One that nobody works on. */
static int find_task(master *m) {
  for (int i = 0; i < mortal_rounds; i++) {
    int task = (m->next + i) % mortal_rounds, taken = results[task] != 0;
    for (int w = 1; w < m->n; w++)
      taken |= m->has[w] == task;
    if (!taken) {
      m->next = task + 1;
      return task;
    }
  }
  return NONE;
}

/* Of one worker, or NONE at the end. */
static int send_task(master *m, int worker, int task) {
  mortal_point();
  int code = mortal_code(MPI_Send(&task, 1, MPI_INT, worker, TASK, m->comm), "MPI_Send");
  if (code == MPIX_ERR_REVOKED)
    return code;
  if (code)
    bury(m, worker);
  else
    m->has[worker] = task;
  return MPI_SUCCESS;
}

static int hand_out(master *m) {
  int code = MPI_SUCCESS;
  for (int w = 1; w < m->n && !code; w++) {
    int task = m->is_dead[w] || m->has[w] != NONE ? NONE : find_task(m);
    if (task != NONE)
      code = send_task(m, w, task);
  }
  return code;
}

static void take_result(master *m, const MPI_Status *status) {
  int task = m->has[status->MPI_SOURCE], bytes;
  MPI_Get_count(status, MPI_BYTE, &bytes);
  if (task == NONE && m->is_dead[status->MPI_SOURCE])
    return; /* it has sent its result before it died, and that comes late */
  if ((int)buffer.task != task || bytes != bytes_of(task) || buffer.value != result_of(task)) {
    mortal_fail("a result of task", task);
    return;
  }
  if (bytes == (int)sizeof buffer && buffer.padding[MOST_WORDS - 1] != buffer.value)
    mortal_fail("the end of a result", task);
  m->left -= results[task] == 0;
  results[task] = buffer.value;
  m->has[status->MPI_SOURCE] = NONE;
}

static int count_busy(const master *m) {
  int busy = 0;
  for (int w = 1; w < m->n; w++)
    busy += m->has[w] != NONE;
  return busy;
}

/* After a failure the same request goes on, for as long as somebody works. */
static int wait_on(master *m, MPI_Request *request, MPI_Status *status) {
  int code;
  while ((code = MPI_Wait(request, status)) == MPIX_ERR_PROC_FAILED_PENDING) {
    MORTAL_TRY(acknowledge(m));
    MORTAL_TRY(hand_out(m));
    if (!count_busy(m))
      MPI_Cancel(request);
  }
  return code;
}

/* From any worker. *none: nobody works any more. */
static int receive(master *m, MPI_Status *status, int *none) {
  static int calls;
  MPI_Request request;
  *none = 0;
  mortal_point();
  if (calls++ % 2)
    return MPI_Recv(&buffer, sizeof buffer, MPI_BYTE, MPI_ANY_SOURCE, RESULT, m->comm, status);
  MORTAL_TRY(
      MPI_Irecv(&buffer, sizeof buffer, MPI_BYTE, MPI_ANY_SOURCE, RESULT, m->comm, &request));
  int code = wait_on(m, &request, status);
  if (code && request != MPI_REQUEST_NULL) { /* revoked meanwhile */
    MPIX_Comm_revoke(m->comm);
    MPI_Wait(&request, status);
  } else if (!code)
    MPI_Test_cancelled(status, none);
  return code;
}

static int take_one(master *m) {
  MPI_Status status;
  int none, code = mortal_code(receive(m, &status, &none), "a receive from any source");
  if (!code && !none)
    take_result(m, &status);
  return code == MPIX_ERR_PROC_FAILED || code == MPIX_ERR_PROC_FAILED_PENDING ? acknowledge(m)
                                                                              : code;
}

/* A task, where no worker is left. */
static void do_alone(master *m) {
  int task = find_task(m);
  for (int w = 1; w < m->n; w++)
    if (!m->is_dead[w])
      return;
  results[task] = result_of(task);
  m->left--;
}

static int lead(MPI_Comm comm) {
  master m = {.comm = comm};
  MPI_Comm_size(comm, &m.n);
  for (int i = 0; i < mortal_rounds; i++)
    m.left += results[i] == 0;
  memset(m.has, NONE, sizeof m.has);
  while (m.left > 0) {
    MORTAL_TRY(hand_out(&m));
    if (count_busy(&m))
      MORTAL_TRY(take_one(&m));
    else
      do_alone(&m);
  }
  for (int w = 1; w < m.n; w++)
    if (!m.is_dead[w])
      MORTAL_TRY(send_task(&m, w, NONE));
  return MPI_SUCCESS;
}

/* --- both ---------------------------------------------------------------------------------- */

/* All know then what any one knows. */
static int bring_together(MPI_Comm comm, void *data) {
  (void)data;
  MORTAL_TRY(MPI_Allreduce(MPI_IN_PLACE, results, mortal_rounds, MPI_UINT64_T, MPI_MAX, comm));
  return MPI_SUCCESS;
}

int main(int argc, char **argv) {
  MPI_Comm comm = MPI_COMM_WORLD;
  uint64_t checksum = 0;
  int me, failed = 0, done = 0;
  mortal_begin(argc, argv, MPI_THREAD_SINGLE);
  results = calloc((size_t)mortal_rounds, sizeof *results);
  while (!done) {
    MPI_Comm_rank(comm, &me);
    failed = me == 0 ? lead(comm) : work(comm);
    if (!failed) /* fails where a worker has died, which shrinking mends */
      failed = bring_together(comm, NULL);
    done = mortal_settle_with(&comm, failed, bring_together, NULL);
  }
  for (int i = 0; i < mortal_rounds; i++) {
    if (results[i] != result_of(i))
      mortal_fail("the result of a task", i);
    checksum += results[i];
  }
  return mortal_end(checksum);
}
