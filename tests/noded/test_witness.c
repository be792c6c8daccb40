/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * The witness gives each decision's vote to one node, whoever asks, in whichever process and how
 * often; where its file cannot be used nobody has the vote. */
#include "noded/consensus/witness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/check/check.h"

enum { JOB = 0xabc, PROCESSES = 4 };

static char path[RGT_PATH];

static void new_path(void) {
  rgt_temporary(path);
  int fd = mkstemp(path);
  RGT_TRUE(fd >= 0);
  close(fd);
  unlink(path);
}

/* Until the answer is known. */
static int ask(uint64_t job, uint32_t number, int node) {
  int holder;
  while ((holder = rgi_witness_ask(path, job, number, node)) == RGI_WITNESS_PENDING)
    rgi_clock_sleep(1e-4);
  return holder;
}

#ifdef __SANITIZE_ADDRESS__ /* a forked process can start no thread: its locks may be taken */
static void ask_elsewhere(uint64_t job, uint32_t number, int answer[PROCESSES]) {
  for (int i = 0; i < PROCESSES; i++)
    answer[i] = ask(job, number, i);
}
#else
/* Other processes that ask for themselves; their status is the answer. */
static void ask_elsewhere(uint64_t job, uint32_t number, int answer[PROCESSES]) {
  pid_t all[PROCESSES];
  for (int i = 0; i < PROCESSES; i++) {
    all[i] = fork();
    if (all[i] == 0)
      _exit(ask(job, number, i) & 0xff);
  }
  for (int i = 0; i < PROCESSES; i++) {
    int status = -1;
    RGT_INT(waitpid(all[i], &status, 0), all[i]);
    answer[i] = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
}
#endif

static void test_one_holder(void) {
  for (uint32_t number = 0; number < 20; number++) {
    int answer[PROCESSES];
    if (number % 5 == 0)
      new_path();
    ask_elsewhere(JOB, number, answer);
    RGT_TRUE(answer[0] >= 0 && answer[0] < PROCESSES);
    for (int i = 1; i < PROCESSES; i++)
      RGT_INT(answer[i], answer[0]);
    RGT_INT(ask(JOB, number, PROCESSES), answer[0]);
  }
}

static void test_numbers(void) {
  new_path();
  RGT_INT(ask(JOB, 0, 3), 3);
  RGT_INT(ask(JOB, 0, 2), 3);
  RGT_INT(ask(JOB, 1, 2), 2);
  RGT_INT(ask(JOB, 0, 2), 3);
  RGT_INT(ask(JOB + 1, 0, 1), 1);
  RGT_INT(ask(JOB, 1, 5), 2);
}

/* A file system that comes back. */
static void test_unreadable(void) {
  char folder[RGT_PATH];
  rgt_temporary(folder);
  RGT_PTR_NOT_NULL(mkdtemp(folder));
  RGT_TRUE(snprintf(path, sizeof path, "%s/witness", folder) < (int)sizeof path);
  rmdir(folder);
  RGT_INT(ask(JOB, 0, 1), RGI_WITNESS_FAILED);
  RGT_INT(ask(JOB, 0, 1), RGI_WITNESS_FAILED);
  RGT_INT(mkdir(folder, 0700), 0);
  RGT_INT(ask(JOB, 0, 1), 1);
  unlink(path);
  rmdir(folder);
}

/* A vote that was not written to its end counts for nobody, and spoils no other. */
static void test_torn(void) {
  static const char *const torn[] = {"", " 1", " 1 7", " 1 7 "};
  for (int i = 0; i < 4; i++) {
    int first[PROCESSES], again[PROCESSES];
    uint64_t job = JOB + 10 + 2 * (uint64_t)i;
    new_path();
    RGT_INT(ask(job, 0, 1), 1);
    FILE *f = fopen(path, "a");
    RGT_PTR_NOT_NULL(f);
    if (!f)
      return;
    fprintf(f, "%x%s", (unsigned)job, torn[i]);
    fclose(f);
    ask_elsewhere(job, 1, first);
    ask_elsewhere(job, 1, again);
    RGT_TRUE(first[0] >= 0 && first[0] < PROCESSES);
    for (int k = 0; k < PROCESSES; k++) {
      RGT_INT(first[k], first[0]);
      RGT_INT(again[k], first[0]);
    }
    RGT_INT(ask(job + 1, 0, 2), 2);
    RGT_INT(ask(job, 0, 3), 1);
    unlink(path);
  }
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"one holder", test_one_holder},
                                   {"numbers and jobs", test_numbers},
                                   {"an unreadable file", test_unreadable},
                                   {"a torn line", test_torn},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "witness", tests);
}
