/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Where there is a time limit MPI's collectives are the non-blocking ones, so that the library
 * waits for them, which takes some microseconds longer. MPI may write the word after the wait has
 * been given up, since it cannot cancel them: that word stays for ever. The others are kept for the
 * next exchanges. One is there from the start: a process without memory must be able to tell that.
 */
#include "mpi/word_exchange.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "mpich/mpich.h"
#include "progress/mpi_error.h"
#include "progress/wait.h"

typedef struct exchange_word {
  struct exchange_word *next;
  int64_t value;
} exchange_word;

static exchange_word first_word;
static int has_limit;

void rgi_word_exchange_limit(int limited) {
  has_limit = limited;
}

int rgi_word_exchange_has_limit(void) {
  return has_limit;
}

/* --- with a time limit ---------------------------------------------------------------------- */

static struct {
  pthread_mutex_t lock;
  exchange_word *words; /* not in use */
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER, .words = &first_word};

static exchange_word *take_word(void) {
  pthread_mutex_lock(&kept.lock);
  exchange_word *word = kept.words;
  if (word)
    kept.words = word->next;
  pthread_mutex_unlock(&kept.lock);
  return word ? word : malloc(sizeof *word);
}

static void keep_word(exchange_word *word) {
  pthread_mutex_lock(&kept.lock);
  word->next = kept.words;
  kept.words = word;
  pthread_mutex_unlock(&kept.lock);
}

/* The members are not known yet: no death of one ends the wait. */
static int await(const char *call, MPI_Request *request) {
  rgi_wait wait;
  rgi_wait_start_unscoped(&wait, call, -1);
  for (;;) {
    int done = 0;
    RGI_TRY_MPI(rgi_wait_mpi_test(request, &done));
    if (done)
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_more(&wait));
  }
}

static int run_limited(const char *call, MPI_Comm comm, MPI_Op op, int64_t *value) {
  MPI_Request request;
  exchange_word *word = take_word();
  if (!word)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
  word->value = *value;
  int code = op == MPI_OP_NULL
                 ? PMPI_Ibcast(&word->value, 1, MPI_INT64_T, 0, comm, &request)
                 : PMPI_Iallreduce(MPI_IN_PLACE, &word->value, 1, MPI_INT64_T, op, comm, &request);
  int error = rgi_mpi_error(code, call);
  if (!error)
    RGI_TRY(await(call, &request));
  *value = word->value;
  keep_word(word);
  return error;
}

/* --- without ---------------------------------------------------------------------------------- */

/* One of so many polls in vain reads the clock. */
enum { POLLS_FOR_LOOK = 64 };

static _Thread_local struct {
  const char *call;
  unsigned polls;
  double since;
  int reported;
} blocked;

/* By MPI's wait. */
static void report_stall(void) {
  double report = rgi_options_value(RGI_OPT_STALL_REPORT);
  if (++blocked.polls % POLLS_FOR_LOOK || blocked.reported || report <= 0)
    return;
  double now = rgi_clock_now();
  if (blocked.since == 0)
    blocked.since = now;
  if (now - blocked.since <= report)
    return;
  blocked.reported = 1;
  rgi_log(RGI_LOG_WARN, "%s has been waiting for another process for %.0f s", blocked.call,
          now - blocked.since);
}

static int run_blocking(const char *call, MPI_Comm comm, MPI_Op op, int64_t *value) {
  int64_t mine = *value;
  blocked.call = call;
  blocked.since = 0;
  blocked.polls = 0;
  blocked.reported = 0;
  rgi_mpich_polled = report_stall;
  int code = op == MPI_OP_NULL ? PMPI_Bcast(value, 1, MPI_INT64_T, 0, comm)
                               : PMPI_Allreduce(&mine, value, 1, MPI_INT64_T, op, comm);
  rgi_mpich_polled = NULL;
  return rgi_mpi_error(code, call);
}

static int run_exchange(const char *call, MPI_Comm comm, MPI_Op op, int64_t *value) {
  return has_limit ? run_limited(call, comm, op, value) : run_blocking(call, comm, op, value);
}

int rgi_word_exchange_give(const char *call, MPI_Comm comm, int64_t *word) {
  return run_exchange(call, comm, MPI_OP_NULL, word);
}

int rgi_word_exchange_combine(const char *call, MPI_Comm comm, MPI_Op op, int64_t *word) {
  return run_exchange(call, comm, op, word);
}
