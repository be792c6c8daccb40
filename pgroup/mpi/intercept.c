/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The choice of operations (RG_MPI), the counts of what became of each call, and the end of a call:
 * the error as a code of MPI's, through the communicator's error handler. Errors in the arguments
 * are not raised here: such a call is passed on to MPI, which reports it as it would without the
 * library. */
#include "mpi/intercept.h"

#include <ctype.h>
#include <pthread.h>
#include <regroup/collectives.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/option_table.h"
#include "progress/mpi_error.h"

/* As the library's functions are called, of which its texts are. */
#define PREFIX "rg_"
#define PREFIX_LENGTH (sizeof PREFIX - 1)
static const char *const names[] = {
#define RGI_NAME(id, name) [RGI_INTERCEPT_##id] = PREFIX name,
    RGI_INTERCEPT_LIST(RGI_NAME)
#undef RGI_NAME
};

static const char *const window_names[] = {
#define RGI_NAME(id, name) [RGI_INTERCEPT_WINDOW_##id] = name,
    RGI_INTERCEPT_WINDOW_LIST(RGI_NAME)
#undef RGI_NAME
};

int rgi_intercept_counting;
rgi_intercept_fault_hooks rgi_intercept_fault;

static struct {
  unsigned chosen; /* a bit for each operation */
  atomic_ullong counts[RGI_INTERCEPT_COUNT][RGI_INTERCEPT_OUTCOMES];
  atomic_ullong on_windows[RGI_INTERCEPT_WINDOW_COUNT][2]; /* passed on, served */
} state;

/* --- choosing -------------------------------------------------------------------------- */

/* In RG_MPI and in the report. */
static const char *word_of(int call) {
  return names[call] + PREFIX_LENGTH;
}

static _Thread_local const char *window_call = "MPI_Win_create";

void rgi_intercept_name_window(const char *call) {
  window_call = call;
}

const char *rgi_intercept_name(rgi_intercept_call call) {
  return call == RGI_INTERCEPT_RMA ? window_call : names[call];
}

static int find_operation(const char *word, size_t length) {
  for (int i = 0; i < RGI_INTERCEPT_COUNT; i++)
    if (strlen(word_of(i)) == length && strncmp(word_of(i), word, length) == 0)
      return i;
  return -1;
}

static int bad_word(const char *word, size_t length) {
  char list[400];
  size_t at = 0;
  for (int i = 0; i < RGI_INTERCEPT_COUNT; i++)
    at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i ? ", " : "", word_of(i));
  return rgi_error(
      RG_ERR_OPTION,
      "RG_MPI: \"%.*s\": expected all, none, or a list of all and, also with a - in front, of: %s",
      (int)length, word, list);
}

int rgi_intercept_wanted(unsigned *wanted) {
  const char *text = rgi_option_text(RGI_OPT_MPI);
  unsigned all = (1u << RGI_INTERCEPT_COUNT) - 1, found = 0;
  for (const char *word = strcmp(text, "none") ? text : ""; *word;) {
    size_t length = strcspn(word, ",");
    int taken = *word == '-', i = find_operation(word + taken, length - (size_t)taken);
    if (length == 3 && strncmp(word, "all", length) == 0)
      found = all;
    else if (i < 0)
      return bad_word(word, length);
    else
      found = taken ? found & ~(1u << i) : found | 1u << i;
    word += length + (word[length] == ',');
  }
  *wanted = found;
  return RG_SUCCESS;
}

void rgi_intercept_choose(unsigned chosen) {
  state.chosen = chosen;
}

int rgi_intercept_chosen(rgi_intercept_call call) {
  return (state.chosen >> call) & 1;
}

/* --- serving --------------------------------------------------------------------------- */

void rgi_intercept_count(rgi_intercept_call call, rgi_intercept_outcome outcome) {
  if (rgi_intercept_counting & RGI_INTERCEPT_REPORTS)
    atomic_fetch_add_explicit(&state.counts[call][outcome], 1, memory_order_relaxed);
}

void rgi_intercept_count_window(rgi_intercept_window_call call, int served) {
  atomic_fetch_add_explicit(&state.on_windows[call][served != 0], 1, memory_order_relaxed);
}

/* In most jobs nothing is counted, and this function ends with a jump: calls that send nothing take
 * nanoseconds. */
rg_group rgi_intercept_group(rgi_intercept_call call, MPI_Comm comm) {
  rg_group g = NULL;
  if (!rgi_intercept_counting)
    return rgi_intercept_chosen(call) ? rgi_intercept_comm_group(call, comm) : NULL;
  if (!rgi_intercept_chosen(call))
    rgi_intercept_count(call, RGI_INTERCEPT_NOT_CHOSEN);
  else if (!(g = rgi_intercept_comm_group(call, comm)))
    rgi_intercept_count(call, RGI_INTERCEPT_OTHER_COMM);
  int error = g && rgi_intercept_fault.check
                  ? rgi_intercept_fault.check(comm, rgi_intercept_name(call))
                  : RG_SUCCESS;
  if (error)
    rgi_intercept_refuse_next(error);
  return error ? NULL : g;
}

/* Errors in the arguments, which are found before anything is sent. */
static int is_in_arguments(int error) {
  return error == RG_ERR_ARG || error == RG_ERR_RANK || error == RG_ERR_TAG ||
         error == RG_ERR_COMM || error == RG_ERR_GROUP;
}

int rgi_intercept_end(rgi_intercept_call call, MPI_Comm comm, int error, int *answer) {
  if (is_in_arguments(error)) {
    rgi_intercept_count(call, RGI_INTERCEPT_OTHER_CASE);
    return 0;
  }
  rgi_intercept_count(call, RGI_INTERCEPT_SERVED);
  rgi_mpich_served++;
  *answer = error ? rgi_intercept_raise(call, comm, error) : MPI_SUCCESS;
  return 1;
}

/* The application's function. */
static void name_of(rgi_intercept_call call, char name[64]) {
  const char *word = word_of((int)call);
  if (call == RGI_INTERCEPT_RMA)
    snprintf(name, 64, "%s", window_call);
  else
    snprintf(name, 64, "MPI_%c%s", toupper((unsigned char)*word), word + 1);
}

/* Behind the name of the library's function that has met the error. */
static const char *without_name(const char *detail) {
  size_t length = strspn(detail, "abcdefghijklmnopqrstuvwxyz_MPICW");
  int is_name = strncmp(detail, PREFIX, PREFIX_LENGTH) == 0 || strncmp(detail, "MPI_", 4) == 0;
  return is_name && strncmp(detail + length, ": ", 2) == 0 ? detail + length + 2 : detail;
}

/* "rg_allreduce: ..." as "regroup: MPI_Allreduce: ...", without advice that holds for groups. */
static void text_of(rgi_intercept_call call, const char *detail, char text[MPI_MAX_ERROR_STRING]) {
  static const char advice[] = "; form the group anew";
  char name[64];
  if (call == RGI_INTERCEPT_COUNT) {
    snprintf(text, MPI_MAX_ERROR_STRING, "regroup: %s", detail);
    return;
  }
  name_of(call, name);
  detail = without_name(without_name(detail));
  const char *end = strstr(detail, advice);
  snprintf(text, MPI_MAX_ERROR_STRING, "regroup: %s: %.*s", name,
           end ? (int)(end - detail) : (int)strlen(detail), detail);
}

/* An error code with the library's text, in a class of the library's: MPICH adds no codes to its
 * own classes. */
static int own_code(int error, const char *text) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static int class, codes[RG_ERR_INTERNAL + 1];
  int good = 1;
  pthread_mutex_lock(&lock);
  if (!class)
    good = PMPI_Add_error_class(&class) == MPI_SUCCESS;
  if (error > RG_ERR_INTERNAL) /* an application's: its functions are not called here */
    error = RG_ERR_INTERNAL;
  if (good && !codes[error])
    good = PMPI_Add_error_code(class, &codes[error]) == MPI_SUCCESS;
  if (good)
    PMPI_Add_error_string(codes[error], text); /* until the next one */
  pthread_mutex_unlock(&lock);
  return good ? codes[error] : MPI_ERR_OTHER;
}

static int code_of(int error, const char *text) {
  return error == RG_ERR_TRUNCATE || error == RG_ERR_MISMATCH ? MPI_ERR_TRUNCATE
         : error == RG_ERR_NOMEM                              ? MPI_ERR_NO_MEM
                                                              : own_code(error, text);
}

int rgi_intercept_code(int error) {
  char text[MPI_MAX_ERROR_STRING];
  snprintf(text, sizeof text, "regroup: %s", rg_error_detail());
  return code_of(error, text);
}

#define TELL_SECONDS 0.1

static int is_fatal(MPI_Comm comm) {
  MPI_Errhandler handler;
  if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
    return 0;
  int fatal = handler == MPI_ERRORS_ARE_FATAL;
#if MPI_VERSION >= 4
  fatal |= handler == MPI_ERRORS_ABORT;
#endif
  PMPI_Errhandler_free(&handler);
  return fatal;
}

/* What a process has just written is lost now and then where mpiexec ends the job at once. */
void rgi_intercept_abort(MPI_Comm comm, int code, const char *text) {
  fprintf(stderr, "%s\n", text);
  rgi_clock_sleep(TELL_SECONDS);
  PMPI_Abort(comm, code);
}

/* MPI itself would name its function that calls handlers. */
int rgi_intercept_raise_code(MPI_Comm comm, int code, const char *text) {
  if (is_fatal(comm))
    rgi_intercept_abort(comm, code, text);
  PMPI_Comm_call_errhandler(comm, code);
  return code;
}

/* A process that has aborted the job looks like a dead one: mpiexec ends this one before it would
 * tell that. */
#define ABORT_SECONDS 1.0

int rgi_intercept_raise(rgi_intercept_call call, MPI_Comm comm, int error) {
  char text[MPI_MAX_ERROR_STRING];
  text_of(call, rg_error_detail(), text);
  if (error == RG_ERR_PROC_FAILED && is_fatal(comm))
    rgi_clock_sleep(ABORT_SECONDS);
  int code = rgi_intercept_fault.code ? rgi_intercept_fault.code(comm, error) : 0;
  return rgi_intercept_raise_code(comm, code ? code : code_of(error, text), text);
}

int rgi_intercept_refuse(rgi_intercept_call call, MPI_Comm comm, int class, const char *why) {
  char text[MPI_MAX_ERROR_STRING];
  text_of(call, why, text);
  rgi_intercept_count(call, RGI_INTERCEPT_OTHER_CASE);
  return rgi_intercept_raise_code(comm, class, text);
}

/* --- the report -------------------------------------------------------------------------- */

static void print_row(const char *name, const unsigned long long n[]) {
  fprintf(stderr, "regroup-mpi: %-22s %12llu %12llu %12llu %12llu\n", name, n[RGI_INTERCEPT_SERVED],
          n[RGI_INTERCEPT_NOT_CHOSEN], n[RGI_INTERCEPT_OTHER_COMM], n[RGI_INTERCEPT_OTHER_CASE]);
}

static void report_calls(MPI_Comm comm, int rank) {
  unsigned long long mine[RGI_INTERCEPT_COUNT][RGI_INTERCEPT_OUTCOMES],
      all[RGI_INTERCEPT_COUNT][RGI_INTERCEPT_OUTCOMES];
  char title[40];
  int size;
  PMPI_Comm_size(comm, &size);
  snprintf(title, sizeof title, "calls, %d processes", size);
  for (int i = 0; i < RGI_INTERCEPT_COUNT; i++)
    for (int k = 0; k < RGI_INTERCEPT_OUTCOMES; k++)
      mine[i][k] = atomic_load(&state.counts[i][k]);
  PMPI_Reduce(mine, all, RGI_INTERCEPT_COUNT * RGI_INTERCEPT_OUTCOMES, MPI_UNSIGNED_LONG_LONG,
              MPI_SUM, 0, comm);
  if (rank != 0)
    return;
  fprintf(stderr, "regroup-mpi: %-22s       served   not chosen   other comm   other case\n",
          title);
  for (int i = 0; i < RGI_INTERCEPT_COUNT; i++)
    if (all[i][RGI_INTERCEPT_SERVED] + all[i][RGI_INTERCEPT_NOT_CHOSEN] +
        all[i][RGI_INTERCEPT_OTHER_COMM] + all[i][RGI_INTERCEPT_OTHER_CASE])
      print_row(word_of(i), all[i]);
}

/* Nothing where the application has no windows. */
static void report_window_calls(MPI_Comm comm, int rank) {
  unsigned long long mine[RGI_INTERCEPT_WINDOW_COUNT][2], all[RGI_INTERCEPT_WINDOW_COUNT][2];
  int titled = 0;
  for (int i = 0; i < RGI_INTERCEPT_WINDOW_COUNT; i++)
    for (int k = 0; k < 2; k++)
      mine[i][k] = atomic_load(&state.on_windows[i][k]);
  PMPI_Reduce(mine, all, 2 * RGI_INTERCEPT_WINDOW_COUNT, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, comm);
  for (int i = 0; i < RGI_INTERCEPT_WINDOW_COUNT && rank == 0; i++) {
    if (all[i][0] + all[i][1] == 0)
      continue;
    if (!titled++)
      fprintf(stderr, "regroup-mpi: %-22s       served    passed on\n", "calls on windows");
    fprintf(stderr, "regroup-mpi:   %-20s %12llu %12llu\n", window_names[i], all[i][1], all[i][0]);
  }
}

int rgi_intercept_inherit_handler(MPI_Comm from, MPI_Comm to) {
  MPI_Errhandler handler;
  if (to == MPI_COMM_NULL)
    return RG_SUCCESS;
  RGI_TRY_MPI(PMPI_Comm_get_errhandler(from, &handler));
  RGI_TRY_MPI(PMPI_Comm_set_errhandler(to, handler));
  RGI_TRY_MPI(PMPI_Errhandler_free(&handler));
  return RG_SUCCESS;
}

void rgi_intercept_report(MPI_Comm comm) {
  int rank;
  PMPI_Comm_rank(comm, &rank);
  report_calls(comm, rank);
  report_window_calls(comm, rank);
}
