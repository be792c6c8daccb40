/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * The states of the processes of a node: this test makes a table in memory that it shares with
 * processes of its own, and looks at it as a guard does. */
#include <regroup/error.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "access/lock.h"
#include "shm/process.h"
#include "tests/check/check.h"

/* Two processes of this node, ranks 1 and 3 of the world; the others are on other nodes. */
enum { HERE = 2, WORLD = 5 };

static int ranks[HERE] = {1, 3};
static void *memory;
static rgi_node_process *members;
static rgi_process_table table; /* the guard's view */

static void *shared_memory(size_t bytes) {
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  RGT_TRUE(at != MAP_FAILED);
  return at;
}

static void open_table(void) {
  memory = shared_memory(rgi_process_table_bytes(HERE, WORLD));
  members = shared_memory(HERE * sizeof *members);
  table = (rgi_process_table){.members = members, .n = HERE, .me = -1};
  rgi_process_table_attach(&table, memory, WORLD);
}

static void close_table(void) {
  munmap(memory, rgi_process_table_bytes(HERE, WORLD));
  munmap(members, HERE * sizeof *members);
}

/* How far a process goes before it ends. */
typedef enum { TO_NONE, TO_STARTED, TO_READY, TO_LEFT, TO_CLOSED, TO_FAILED_START } how_far;

static void go(int place, how_far end) {
  rgi_node = (rgi_node_info){
      .n = HERE, .me = place, .rank = ranks[place], .ranks = ranks, .processes = members};
  if (end == TO_NONE)
    return;
  if (rgi_process_open(memory, WORLD, 0) != RG_SUCCESS)
    abort();
  if (end >= TO_READY && end != TO_FAILED_START)
    rgi_process_ready(0);
  if (end >= TO_LEFT && end != TO_FAILED_START)
    rgi_process_leave();
  if (end >= TO_CLOSED)
    rgi_process_close();
}

/* A process goes so far and is killed; its guard has not looked yet. */
static pid_t run(int place, how_far end) {
  pid_t pid = fork();
  if (pid == 0) {
    go(place, end);
    kill(getpid(), SIGKILL);
  }
  RGT_INT(waitpid(pid, NULL, 0), pid);
  return pid;
}

static rgi_process_state state(int place) {
  return rgi_process_table_state(&table, ranks[place]);
}

/* What a process is after its end, by how far it has come. */
static void test_ends(void) {
  static const struct {
    how_far end;
    rgi_process_state before, after;
    int deaths;
  } cases[] = {{TO_NONE, RGI_PROCESS_NONE, RGI_PROCESS_NONE, 0},
               {TO_STARTED, RGI_PROCESS_STARTED, RGI_PROCESS_DEAD_STARTING, 1},
               {TO_READY, RGI_PROCESS_READY, RGI_PROCESS_DEAD, 1},
               {TO_LEFT, RGI_PROCESS_LEFT, RGI_PROCESS_DEAD, 1},
               {TO_CLOSED, RGI_PROCESS_LEFT, RGI_PROCESS_ENDED, 0},
               {TO_FAILED_START, RGI_PROCESS_STARTED, RGI_PROCESS_ENDED, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    open_table();
    pid_t pid = run(1, cases[i].end);
    RGT_INT(state(1), cases[i].before);
    rgi_process_table_ended(&table, (int)pid);
    RGT_INT(state(1), cases[i].after);
    RGT_INT(rgi_process_table_deaths(&table), cases[i].deaths);
    RGT_INT(rgi_process_table_is_dead(&table, 3), cases[i].deaths);
    if (cases[i].deaths)
      RGT_INT(rgi_process_table_death(&table, 0), 3);
    RGT_INT(state(0), RGI_PROCESS_NONE);
    close_table();
  }
}

/* Another process sees the death before the guard does: it is noted once. */
static void test_seen_before(void) {
  open_table();
  pid_t pid = run(0, TO_READY);
  rgi_process_table_check(&table);
  RGT_INT(state(0), RGI_PROCESS_DEAD);
  rgi_process_table_ended(&table, (int)pid);
  rgi_process_table_check(&table);
  RGT_INT(state(0), RGI_PROCESS_DEAD);
  RGT_INT(rgi_process_table_deaths(&table), 1);
  close_table();
}

/* What is asked of all: a process that has not opened the table is none that has left. */
static void test_all(void) {
  open_table();
  pid_t first = run(0, TO_CLOSED);
  RGT_INT(rgi_process_table_all_ready(&table), 0);
  RGT_INT(rgi_process_table_all_left(&table), 0);
  pid_t second = run(1, TO_READY);
  RGT_INT(rgi_process_table_all_ready(&table), 1);
  RGT_INT(rgi_process_table_all_left(&table), 0);
  rgi_process_table_ended(&table, (int)second);
  RGT_INT(rgi_process_table_all_ready(&table), 1);
  RGT_INT(rgi_process_table_all_left(&table), 1);
  RGT_INT(rgi_process_table_all_ended(&table), 0);
  rgi_process_table_ended(&table, (int)first);
  RGT_INT(rgi_process_table_all_ended(&table), 1);
  close_table();
}

/* A process that has died in rg_init never was ready. */
static void test_starting(void) {
  open_table();
  pid_t pid = run(0, TO_STARTED);
  run(1, TO_READY);
  rgi_process_table_ended(&table, (int)pid);
  RGT_INT(rgi_process_table_all_ready(&table), 0);
  close_table();
}

/* A state only grows, and no process comes back from the dead. */
static void test_grows(void) {
  open_table();
  rgi_process_table_raise(&table, 2, RGI_PROCESS_LEFT);
  rgi_process_table_raise(&table, 2, RGI_PROCESS_READY);
  RGT_INT(rgi_process_table_state(&table, 2), RGI_PROCESS_LEFT);
  rgi_process_table_note_death(&table, 2);
  rgi_process_table_note_death(&table, 4);
  rgi_process_table_raise(&table, 2, RGI_PROCESS_ENDED);
  RGT_INT(rgi_process_table_state(&table, 2), RGI_PROCESS_DEAD);
  RGT_INT(rgi_process_table_state(&table, 4), RGI_PROCESS_DEAD);
  RGT_INT(rgi_process_table_deaths(&table), 2);
  RGT_INT(rgi_process_table_death(&table, 1), 4);
  close_table();
}

/* One process looks for all: another view of the table finds that it need not, until its time has
 * come. The time of another clock, before or after, stops nobody for good. */
static void test_shared_looks(void) {
  open_table();
  rgi_process_table other = table;
  run(1, TO_READY);
  RGT_INT(rgi_process_table_check_each(&table, 1000.000, 0.005), 1);
  RGT_INT(rgi_process_table_deaths(&other), 1);
  run(0, TO_READY);
  RGT_INT(rgi_process_table_check_each(&other, 1000.001, 0.005), 0);
  RGT_INT(rgi_process_table_check_each(&table, 1000.004, 0.005), 0);
  RGT_INT(rgi_process_table_deaths(&other), 1);
  RGT_INT(rgi_process_table_check_each(&other, 1000.006, 0.005), 1);
  RGT_INT(rgi_process_table_deaths(&table), 2);
  RGT_INT(rgi_process_table_check_each(&table, 1000.007, 0.005), 0);
  RGT_INT(rgi_process_table_check_each(&table, 1000.003, 0.005), 0); /* the clock was read before */
  RGT_INT(rgi_process_table_check_each(&other, 10.000, 0.005), 1);
  RGT_INT(rgi_process_table_check_each(&table, 1000.008, 0.005), 1);
  close_table();
}

static int status_of(pid_t pid) {
  int status = -1;
  RGT_INT(waitpid(pid, &status, 0), pid);
  return status;
}

/* A lock whose owner has died: the member that waits is told, or acquires it. */
static void test_lock(void) {
  open_table();
  rgi_lock *lock = shared_memory(sizeof *lock);
  pid_t owner = fork();
  if (owner == 0) {
    go(1, TO_READY);
    if (rgi_lock_try(lock))
      kill(getpid(), SIGKILL);
    abort();
  }
  RGT_INT(WTERMSIG(status_of(owner)), SIGKILL);
  pid_t next = fork();
  if (next == 0) {
    go(0, TO_READY);
    int told = rgi_lock_wait(lock, "a test"), given = rgi_lock_wait_robust(lock, "a test");
    _exit(told != RG_ERR_PROC_FAILED || given != RG_SUCCESS);
  }
  RGT_INT(status_of(next), 0);
  RGT_INT(atomic_load(&lock->owner.value), ranks[0] + 1);
  munmap(lock, sizeof *lock);
  close_table();
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"ends", test_ends},   {"seen before", test_seen_before},
                                   {"all", test_all},     {"starting", test_starting},
                                   {"grows", test_grows}, {"shared looks", test_shared_looks},
                                   {"lock", test_lock},   {NULL, NULL}};
  return rgt_main(argc, argv, "process_table", tests);
}
