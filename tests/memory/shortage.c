/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "tests/memory/shortage.h"

#include <errno.h>
#include <execinfo.h>
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm/arena.h"
#include "tests/check/check.h"

enum { MOST_RANKS = 16, MOST_ALLOCATIONS = 2000, ROUNDS = 3 };

rg_group shortage_world, shortage_group;

static atomic_int left; /* allocations up to the one that fails; 0: none is to fail */
static atomic_int lasts, has_failed;
static atomic_long live; /* blocks of the heap */

/* --- what fails ------------------------------------------------------------------------- */

static int fails(void) {
  if (atomic_load(&left) <= 0)
    return 0;
  int before = atomic_fetch_sub(&left, 1);
  if (before != 1)
    return 0;
  atomic_store(&has_failed, 1);
  if (getenv("SHORTAGE_WHERE")) {
    void *stack[20];
    backtrace_symbols_fd(stack, backtrace(stack, 20), STDERR_FILENO);
  }
  if (atomic_load(&lasts))
    atomic_store(&left, 1);
  errno = ENOMEM; /* as the functions themselves */
  return 1;
}

static void *counted(void *block) {
  if (block)
    atomic_fetch_add(&live, 1);
  return block;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t bytes);
void __real_free(void *block);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t bytes);
void __wrap_free(void *block);
int __wrap_asprintf(char **text, const char *format, ...);

void *__wrap_malloc(size_t bytes) {
  return fails() ? NULL : counted(__real_malloc(bytes));
}

void *__wrap_calloc(size_t n, size_t bytes) {
  return fails() ? NULL : counted(__real_calloc(n, bytes));
}

void *__wrap_realloc(void *old, size_t bytes) {
  if (fails())
    return NULL;
  return old ? __real_realloc(old, bytes) : counted(__real_realloc(old, bytes));
}

char *__wrap_strdup(const char *text) {
  return fails() ? NULL : counted(__real_strdup(text));
}

char *__wrap_strndup(const char *text, size_t bytes) {
  return fails() ? NULL : counted(__real_strndup(text, bytes));
}

int __wrap_asprintf(char **text, const char *format, ...) {
  va_list args;
  if (fails())
    return -1;
  va_start(args, format);
  int length = vasprintf(text, format, args);
  va_end(args);
  if (length >= 0)
    atomic_fetch_add(&live, 1);
  return length;
}

void __wrap_free(void *block) {
  if (block)
    atomic_fetch_sub(&live, 1);
  __real_free(block);
}

/* A function of the arena's, with its parameters and their names. For a purpose other than
 * RGI_ARENA_ANY memory is set aside. */
#define ARENA(name, parameters, arguments, what, purpose)                                          \
  int __real_##name parameters;                                                                    \
  int __wrap_##name parameters;                                                                    \
  int __wrap_##name parameters {                                                                   \
    return purpose == RGI_ARENA_ANY && fails()                                                     \
               ? rg_error_set(RG_ERR_NOMEM, "%s: the test lets it fail", what)                     \
               : __real_##name arguments;                                                          \
  }

ARENA(rgi_arena_alloc, (const char *what, size_t bytes, uint64_t *offset), (what, bytes, offset),
      what, RGI_ARENA_ANY)
ARENA(rgi_arena_alloc_for,
      (rgi_arena_purpose purpose, const char *what, size_t bytes, uint64_t *offset),
      (purpose, what, bytes, offset), what, purpose)
ARENA(rgi_arena_alloc_brief,
      (rgi_arena_purpose purpose, const char *what, size_t bytes, uint64_t *offset),
      (purpose, what, bytes, offset), what, purpose)
ARENA(rgi_arena_alloc_placed,
      (rgi_arena_purpose purpose, const char *what, size_t bytes, const rgi_placement *placed,
       uint64_t *offset),
      (purpose, what, bytes, placed, offset), what, purpose)
ARENA(rgi_arena_heap_commit, (const char *what, uint64_t offset, size_t bytes),
      (what, offset, bytes), what, RGI_ARENA_ANY)

/* --- an attempt --------------------------------------------------------------------------- */

typedef struct {
  const shortage_call *call;
  int victim, n; /* the n-th allocation of this rank; 0: none fails */
  int lasting;   /* and all later ones */
} shortage;

static char doing[256]; /* for on_alarm */

static void on_alarm(int signal) {
  (void)signal;
  ssize_t told = write(STDERR_FILENO, doing, strlen(doing));
  (void)told;
  _exit(3);
}

/* Seconds for an attempt: what the search for a hang takes with each that it finds. */
static unsigned time_limit(void) {
  const char *text = getenv("SHORTAGE_LIMIT");
  return text ? (unsigned)atoi(text) : 100;
}

static void describe(const shortage *at, const char *what, char text[static 160]) {
  snprintf(text, 160, "%s where rank %d %s allocation %d: %s", at->call->name, at->victim,
           at->lasting ? "has no memory from its" : "lacks memory for its", at->n, what);
}

static int is(const shortage *at, const char *what, long long actual, long long expected) {
  char text[160];
  describe(at, what, text);
  return rgt_int(actual, expected, text, __FILE__, __LINE__);
}

void shortage_begin(int n, int lasting) {
  atomic_store(&has_failed, 0);
  atomic_store(&lasts, lasting);
  atomic_store(&left, n);
}

int shortage_over(void) {
  atomic_store(&left, 0);
  return atomic_load(&has_failed);
}

int shortage_pause(void) {
  return atomic_exchange(&left, 0);
}

void shortage_resume(int paused) {
  atomic_store(&left, paused);
}

static int run(int (*function)(void)) {
  return function ? function() : RG_SUCCESS;
}

static int barrier_fails(void) {
  int error = rg_barrier(shortage_group);
  return error != RG_SUCCESS && error != RG_ERR_TIMEOUT;
}

/* What all members have returned: as the scope says. */
static void judge(const shortage *at, int code, int failed) {
  int victims = code, expected = code, me = rgt_rank == at->victim;
  shortage_scope scope = at->call->scope;
  MPI_Bcast(&victims, 1, MPI_INT, at->victim, MPI_COMM_WORLD);
  int good = is(at, "an error without a reason", victims && !failed, 0);
  if (me || scope == SHORTAGE_ALL || victims == RG_SUCCESS)
    expected = victims ? RG_ERR_NOMEM : RG_SUCCESS;
  else if (scope == SHORTAGE_ONE)
    expected = RG_SUCCESS;
  if (scope == SHORTAGE_EACH)
    good &= is(at, "each has an error, or none", code != RG_SUCCESS, victims != RG_SUCCESS);
  if (scope != SHORTAGE_SOME)
    good &= is(at, "the code", code, expected);
  good &= is(at, "it ends in time", code != RG_ERR_TIMEOUT, 1);
  if (scope == SHORTAGE_GROUP)
    is(at, "the group's next collective fails", barrier_fails(), victims != RG_SUCCESS);
  if (code && !good)
    fprintf(stderr, "rank %d, %s: %s\n", rgt_rank, at->call->name, rg_error_detail());
}

/* Whether there is a result, on all members where the check needs them. */
static int may_check(shortage_scope scope, int code, int failed) {
  return scope == SHORTAGE_ONE || (scope == SHORTAGE_SOME ? !failed : code == RG_SUCCESS);
}

/* Whether there was such an allocation. */
static int attempt(const shortage *at) {
  int failed;
  snprintf(doing, sizeof doing, "hang at rank %d of %s, rank %d's allocation %d%s\n", rgt_rank,
           at->call->name, at->victim, at->n, at->lasting ? " and later" : "");
  alarm(time_limit());
  RGT_OK(rg_group_dup(shortage_world, &shortage_group));
  RGT_OK(run(at->call->begin));
  MPI_Barrier(MPI_COMM_WORLD);
  shortage_begin(rgt_rank == at->victim ? at->n : 0, at->lasting);
  int code = at->call->call();
  failed = shortage_over();
  MPI_Bcast(&failed, 1, MPI_INT, at->victim, MPI_COMM_WORLD);
  judge(at, code, failed);
  if (at->call->right && may_check(at->call->scope, code, failed))
    is(at, "the result is right", at->call->right(), 1);
  MPI_Barrier(MPI_COMM_WORLD); /* no message to a group comes after that is freed */
  RGT_OK(run(at->call->end));
  RGT_OK(rg_group_free(&shortage_group));
  alarm(0);
  return failed;
}

/* After a revocation, and between nodes after an error, some memory is kept, since messages may
 * still arrive there. */
static int may_keep(shortage_scope scope) {
  int nodes = 0;
  RGT_OK(rg_group_node_count(shortage_world, &nodes));
  return scope == SHORTAGE_SOME || (scope == SHORTAGE_GROUP && nodes > 1);
}

/* The n-th allocation fails, and then the call has memory again: its result is right, and at the
 * end no block is left that was not there a round before. */
static int try_n(const shortage *at) {
  shortage with_memory = {at->call, at->victim, 0, 0};
  long before = 0;
  for (int round = 0; round < ROUNDS; round++) {
    if (!attempt(at))
      return round > 0;
    attempt(&with_memory);
    if (round == ROUNDS - 1 && !may_keep(at->call->scope))
      is(at, "no block is left", atomic_load(&live) > before, 0);
    before = atomic_load(&live);
  }
  return 1;
}

/* In the tier all everything; otherwise one process, drawn, and every third allocation. */
static void try_call(const shortage_call *call) {
  const char *tier = getenv("RGT_TIER");
  int all = !tier || strcmp(tier, "all") == 0, step = all ? 1 : 3, most = 0;
  int only = (int)(rgt_seed() % (unsigned)rgt_size),
      first = all ? 1 : 1 + (int)(rgt_seed() / 7 % 3);
  attempt(&(shortage){call, 0, 0, 0});
  for (int lasting = 0; lasting < 2; lasting++)
    for (int victim = all ? 0 : only; victim < (all ? rgt_size : only + 1); victim++)
      for (int n = first; n < MOST_ALLOCATIONS; n += step) {
        if (!try_n(&(shortage){call, victim, n, lasting}))
          break;
        most = n > most ? n : most;
      }
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rgt_rank == 0 && getenv("SHORTAGE_TELL"))
    fprintf(stderr, "shortage: %s: %d\n", call->name, most);
}

/* --- the program --------------------------------------------------------------------------- */

static const shortage_call *all_calls;

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_group_world(&shortage_world));
  signal(SIGALRM, on_alarm);
}

static void test_calls(void) {
  const char *only = getenv("SHORTAGE_CALL");
  for (const shortage_call *call = all_calls; call->name; call++)
    if (!only || strcmp(only, call->name) == 0)
      try_call(call);
}

static void test_stop(void) {
  RGT_OK(rg_barrier(shortage_world));
  RGT_OK(rg_group_free(&shortage_world));
  RGT_OK(rg_finalize());
}

int shortage_main(int argc, char **argv, const char *suite, const shortage_call calls[]) {
  static const rgt_test tests[] = {
      {"start", test_start}, {"calls", test_calls}, {"stop", test_stop}, {NULL, NULL}};
  all_calls = calls;
  return rgt_main(argc, argv, suite, tests);
}
