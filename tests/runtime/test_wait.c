/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * nodes: 2 4
 * ranks: 1 2 4
 * Waiting: it ends by completion or by the time limit, and MPI's own waits are
 * polite. */
#include <mpi.h>
#include <regroup.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/pause.h"
#include "mpich/mpich.h"
#include "progress/wait.h"
#include "tests/check/check.h"

static void test_steps(void) {
  rgi_pause p = {0};
  RGT_INT(rgi_pause_step(&p, RGI_PAUSE_AUTO, 1), RGI_PAUSE_SPUN);
  p = (rgi_pause){0};
  RGT_INT(rgi_pause_step(&p, RGI_PAUSE_AUTO, 0), RGI_PAUSE_YIELDED);
  p = (rgi_pause){0};
  RGT_INT(rgi_pause_step(&p, RGI_PAUSE_YIELD, 1), RGI_PAUSE_YIELDED);
  RGT_INT(rgi_pause_step(&p, RGI_PAUSE_SPIN, 0), RGI_PAUSE_SPUN);
  RGT_INT(rgi_pause_step(&p, RGI_PAUSE_SLEEP, 1), RGI_PAUSE_SLEPT);
  /* After a long time: sleep, unless told otherwise. */
  p = (rgi_pause){.start = rgi_clock_now() - 1, .looks = 1000};
  RGT_INT(rgi_pause_step(&p, RGI_PAUSE_AUTO, 1), RGI_PAUSE_SLEPT);
  RGT_INT(rgi_pause_step(&p, RGI_PAUSE_YIELD, 1), RGI_PAUSE_YIELDED);
  RGT_INT(p.looks, 1002);
  /* Time alone is not enough: others may have had the processor. */
  p = (rgi_pause){.start = rgi_clock_now() - 1, .looks = 1};
  RGT_INT(rgi_pause_step(&p, RGI_PAUSE_AUTO, 1), RGI_PAUSE_YIELDED);
}

static void test_completion(void) {
  MPI_Request request;
  int next = (rgt_rank + 1) % rgt_size, before = (rgt_rank + rgt_size - 1) % rgt_size, got = -1;
  MPI_Irecv(&got, 1, MPI_INT, before, 1, MPI_COMM_WORLD, &request);
  MPI_Send(&rgt_rank, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
  RGT_OK(rgi_wait_request(&request, "test", before));
  RGT_INT(got, before);
}

static void test_time_limit(void) {
  MPI_Request request;
  int got;
  MPI_Irecv(&got, 1, MPI_INT, rgt_rank, 3, MPI_COMM_WORLD, &request);
  RGT_FAILS(rgi_wait_request(&request, "some_call", 3), RG_ERR_TIMEOUT);
  RGT_TRUE(strstr(rg_error_detail(), "some_call") && strstr(rg_error_detail(), "rank 3"));
  MPI_Send(&rgt_rank, 1, MPI_INT, rgt_rank, 3, MPI_COMM_WORLD);
  RGT_OK(rgi_wait_request(&request, "some_call", 3)); /* left as it was */
}

static int count_calls(void *context) {
  int *calls = context;
  return ++*calls < 3 ? RG_SUCCESS : rg_error_set(77, "enough after %d calls", *calls);
}

static void test_hook(void) {
  MPI_Request request;
  int got, calls = 0;
  MPI_Irecv(&got, 1, MPI_INT, rgt_rank, 4, MPI_COMM_WORLD, &request);
  RGT_OK(rg_wait_hook_set(count_calls, &calls));
  RGT_INT(rgi_wait_request(&request, "some_call", 3), 77);
  RGT_STR(rg_error_detail(), "enough after 3 calls");
  RGT_INT(calls, 3);
  RGT_OK(rg_wait_hook_set(NULL, NULL));
  MPI_Send(&rgt_rank, 1, MPI_INT, rgt_rank, 4, MPI_COMM_WORLD);
  RGT_OK(rgi_wait_request(&request, "some_call", 3));
  RGT_INT(calls, 3);
}

/* The members wait for rank 0 in a collective, until their hooks end that. */
static void test_hook_collective(void) {
  rg_group world;
  int calls = 0, one = 1, sum;
  RGT_OK(rg_group_world(&world));
  RGT_OK(rg_wait_hook_set(count_calls, &calls));
  if (rgt_rank > 0)
    RGT_INT(rg_allreduce(world, &one, &sum, 1, MPI_INT, MPI_SUM), 77);
  RGT_OK(rg_wait_hook_set(NULL, NULL));
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_group_free(&world));
}

/* A time after which something has ended has one more look at it: the process may
 * have been stopped for so long itself. */
static void test_last_look(void) {
  rgi_wait w;
  rgi_wait_start(&w, "some_call", 3);
  w.pause = (rgi_pause){.start = rgi_clock_now() - 1000, .looks = 1000};
  RGT_OK(rgi_wait_more(&w));
  RGT_FAILS(rgi_wait_more(&w), RG_ERR_TIMEOUT);
  rgi_wait_start(&w, "some_call", 3);
  w.pause.start = rgi_clock_now() - 1000;
  RGT_OK(rgi_wait_check(&w));
  RGT_FAILS(rgi_wait_check(&w), RG_ERR_TIMEOUT);
}

/* A long wait for a bell and for messages from other nodes looks less and less often. */
static void test_long_wait(void) {
  rgi_bell bell = {0};
  rgi_wait w;
  int looks = 0;
  double start = rgi_clock_now();
  rgi_wait_start(&w, "test", -1);
  for (double now = start; now < start + 0.3; now = rgi_clock_now()) {
    RGT_OK(rgi_wait_bell(&w, &bell, 0, 0));
    looks += now > start + 0.02;
  }
  RGT_TRUE(looks < 600);
}

/* Whether the first pause of a wait for a bell is a sleep. */
static int sleeps_at_once(void) {
  struct rusage before, after;
  rgi_bell bell = {0};
  rgi_wait w;
  rgi_wait_start(&w, "test", -1);
  getrusage(RUSAGE_THREAD, &before);
  RGT_OK(rgi_wait_bell(&w, &bell, 0, 0));
  getrusage(RUSAGE_THREAD, &after);
  return after.ru_nvcsw > before.ru_nvcsw;
}

/* A wait that ends at once: the bell has changed already. */
static void wait_shortly(void) {
  rgi_bell bell = {0};
  rgi_wait w;
  rgi_wait_start(&w, "test", -1);
  RGT_OK(rgi_wait_bell(&w, &bell, 1, 1));
}

/* A wait that has lasted 5 ms: a busy machine may leave a real one no look in that time. */
static void wait_long(void) {
  rgi_bell bell = {0};
  rgi_wait w;
  rgi_wait_start(&w, "test", -1);
  w.pause.start = rgi_clock_now() - 0.005;
  RGT_OK(rgi_wait_bell(&w, &bell, 0, 0));
}

/* Where processes outnumber processors a wait yields at first; after a long wait the next ones
 * sleep at once, until some in a row were short. On a busy machine a short one may take long. */
static void test_lengths(void) {
  int yields = 0;
  for (int i = 0; i < 3; i++) {
    wait_long();
    RGT_TRUE(sleeps_at_once());
    for (int tries = 0, again = 1; again && tries < 200; tries++) {
      for (int k = 0; k < 4; k++)
        wait_shortly();
      again = sleeps_at_once();
      yields += !again;
    }
  }
  RGT_INT(yields, 3);
}

/* Whether all ranks but 0 have yielded and slept while rank 0 was late. */
static int all_were_polite(double late) {
  int64_t yields = 0, sleeps = 0, yields_before = 0, sleeps_before = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_polite_counts(NULL, &yields_before, &sleeps_before));
  if (rgt_rank == 0)
    rgi_clock_sleep(late);
  MPI_Barrier(MPI_COMM_WORLD);
  RGT_OK(rg_polite_counts(NULL, &yields, &sleeps));
  int polite = rgt_rank == 0 || rgi_mpich_yields_only() ||
               (yields > yields_before && sleeps > sleeps_before),
      all;
  MPI_Allreduce(&polite, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all;
}

#ifdef RG_NO_MPICH
enum { WITH_MPICH = 0 };
#else
enum { WITH_MPICH = 1 };
#endif

/* A rank that comes late makes the others wait inside MPI: they must have let
 * their processor go. On a busy machine they may be late themselves. */
static void test_polite(void) {
  int active = -1, all = 0, length;
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Get_library_version(library, &length);
  RGT_OK(rg_polite_active(&active));
  RGT_FAILS(rg_polite_active(NULL), RG_ERR_ARG);
  if (strstr(library, "ch4:") && !getenv("RG_POLITE")) /* also of a process alone */
    RGT_INT(active, WITH_MPICH);
  for (double late = 0.2; active && !all && late < 4; late *= 2)
    all = all_were_polite(late);
  RGT_TRUE(all || !active);
}

/* The library's own looks at MPI do not pause inside MPI: a process that waits for
 * another node, or is on a node with one that waits, pauses once and not twice. */
static void test_own_looks(void) {
  int64_t before, after;
  rg_group world = NULL;
  RGT_OK(rg_group_world(&world));
  for (int i = 0; i < 3; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    RGT_OK(rg_polite_counts(&before, NULL, NULL));
    if (rgt_rank == i % rgt_size)
      rgi_clock_sleep(0.02);
    RGT_OK(rg_barrier(world));
    RGT_OK(rg_polite_counts(&after, NULL, NULL));
    RGT_INT(after - before, 0);
  }
  RGT_OK(rg_group_free(&world));
}

static void test_own_limited_looks(void) {
  int64_t before, after;
  MPI_Request request;
  int got;
  MPI_Irecv(&got, 1, MPI_INT, rgt_rank, 4, MPI_COMM_WORLD, &request);
  RGT_OK(rg_polite_counts(&after, NULL, NULL));
  RGT_FAILS(rgi_wait_request(&request, "test", 3), RG_ERR_TIMEOUT);
  RGT_OK(rg_polite_counts(&before, NULL, NULL));
  RGT_INT(before - after, 0);
  MPI_Send(&rgt_rank, 1, MPI_INT, rgt_rank, 4, MPI_COMM_WORLD);
  RGT_OK(rgi_wait_request(&request, "test", 3));
}

/* A program's loop may ask for the same. */
static void test_polling(void) {
  int64_t counts[4];
  RGT_OK(rg_polite_counts(&counts[0], NULL, NULL));
  RGT_OK(rg_polite_polling(1));
  RGT_OK(rg_polite_polling(1));
  RGT_OK(rg_polite_polling(0));
  for (int i = 0, there; i < 100; i++)
    MPI_Iprobe(rgt_rank, 5, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  RGT_OK(rg_polite_counts(&counts[1], NULL, NULL));
  RGT_OK(rg_polite_polling(0));
  for (int i = 0, there; i < 100; i++)
    MPI_Iprobe(rgt_rank, 5, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  RGT_OK(rg_polite_counts(&counts[2], NULL, NULL));
  int active;
  RGT_OK(rg_polite_active(&active));
  RGT_INT(counts[1] - counts[0], 0);
  if (active && rgt_size > 1) /* a process alone is not polled for */
    RGT_TRUE(counts[2] > counts[1]);
}

static void test_start(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=60"));
}

static void test_start_crowded(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, "oversubscribed=yes"));
}

/* Only for calls that no other process takes part in. */
static void test_start_limited(void) {
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=0.5"));
}

static void test_stop(void) {
  RGT_OK(rg_finalize());
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"start", test_start},
                                   {"steps", test_steps},
                                   {"completion", test_completion},
                                   {"hook", test_hook},
                                   {"polite", test_polite},
                                   {"long wait", test_long_wait},
                                   {"own looks", test_own_looks},
                                   {"polling", test_polling},
                                   {"hook in a collective", test_hook_collective},
                                   {"stop", test_stop},
                                   {"start crowded", test_start_crowded},
                                   {"lengths", test_lengths},
                                   {"stop crowded", test_stop},
                                   {"start limited", test_start_limited},
                                   {"time limit", test_time_limit},
                                   {"last look", test_last_look},
                                   {"own limited looks", test_own_limited_looks},
                                   {"stop again", test_stop},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "wait", tests);
}
