/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The commands are lines of PMI-1, which MPICH's mpiexec and Slurm's pmi2 both take, at the socket
 * that the launcher has opened for the rank. The guard has the same socket. */
#include "noded/daemon/pmi.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define ANSWER_SECONDS 5.0
#define ABSENT_SECONDS 0.1 /* for an answer that may not come */

static int find_socket(void) {
  const char *text = getenv("PMI_FD");
  return text ? atoi(text) : -1;
}

/* Sends the command and reads until this word has come. */
static void exchange(int pmi, const char *command, const char *word, double seconds) {
  char answer[512];
  if (send(pmi, command, strlen(command), MSG_NOSIGNAL) < 0)
    return; /* the rank has already finalized */
  for (double end = rgi_clock_now() + seconds; rgi_clock_now() < end;) {
    struct pollfd p = {pmi, POLLIN, 0};
    if (poll(&p, 1, (int)(1000 * ABSENT_SECONDS)) <= 0)
      continue;
    ssize_t n = read(pmi, answer, sizeof answer - 1);
    answer[n > 0 ? n : 0] = 0;
    if (n <= 0 || strstr(answer, word))
      return;
  }
}

/* Answers that a rank that was killed has not read. */
static void drop_unread(int pmi) {
  char answer[512];
  while (recv(pmi, answer, sizeof answer, MSG_DONTWAIT) > 0)
    continue;
}

void rgi_pmi_finalize(void) {
  int pmi = find_socket();
  if (pmi < 0)
    return;
  drop_unread(pmi);
  exchange(pmi, "cmd=finalize\n", "finalize_ack", ANSWER_SECONDS);
}

int rgi_pmi_is_slurm(void) {
  return getenv("PMI_JOBID") && getenv("SLURM_PROCID");
}

int rgi_pmi_has_finalized(void) {
  char byte;
  int pmi = find_socket();
  return pmi >= 0 && recv(pmi, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* Slurm takes no other command before the first one. If the rank has sent that already, Slurm logs
 * that it does not know the second one. */
void rgi_pmi_abort(int has_begun, int status) {
  static const char begin[] = "cmd=init pmi_version=1 pmi_subversion=1\n";
  char command[40];
  int pmi = find_socket();
  if (pmi < 0)
    return;
  drop_unread(pmi);
  if (!has_begun && rgi_pmi_is_slurm())
    exchange(pmi, begin, "response_to_init", ABSENT_SECONDS);
  int n = snprintf(command, sizeof command, "cmd=abort exitcode=%d\n", status);
  send(pmi, command, (size_t)n, MSG_NOSIGNAL);
}
