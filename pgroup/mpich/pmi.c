/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The commands are lines of PMI-1, which MPICH's mpiexec and Slurm's pmi2 both take, at the socket
 * that the launcher has opened for the rank. The guard has the same socket. MPI's own commands come
 * before or after these. Hydra forgets what is put in its space before the first "init", and takes
 * a second one, MPI's. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "mpich/mpich.h"

#define ANSWER_SECONDS 5.0
#define ABSENT_SECONDS 0.1 /* for an answer that may not come */
#define SPACE_SECONDS 60.0 /* for one about marks: all processes ask */
#define LINE 512
#define BEGIN "cmd=init pmi_version=1 pmi_subversion=1\n"

static int find_socket(void) {
  const char *text = getenv("PMI_FD");
  return text ? atoi(text) : -1;
}

/* Reads a line, byte by byte: what follows it may be MPI's. 0: none has come. */
static int read_line(int pmi, char answer[LINE], double seconds) {
  double end = rgi_clock_now() + seconds;
  for (int n = 0; n < LINE - 1 && rgi_clock_now() < end;) {
    struct pollfd p = {pmi, POLLIN, 0};
    if (poll(&p, 1, (int)(1000 * ABSENT_SECONDS)) <= 0)
      continue;
    if (read(pmi, answer + n, 1) <= 0)
      return 0;
    answer[n + 1] = 0;
    if (answer[n++] == '\n')
      return 1;
  }
  return 0;
}

static int send_line(int pmi, const char *command) {
  size_t length = strlen(command);
  return send(pmi, command, length, MSG_NOSIGNAL) == (ssize_t)length;
}

/* Sends the command, unless the rank has already finalized, and reads until this word has come. */
static void exchange(int pmi, const char *command, const char *word, double seconds) {
  char answer[LINE];
  double end = rgi_clock_now() + seconds;
  if (send_line(pmi, command))
    while (read_line(pmi, answer, end - rgi_clock_now()) && !strstr(answer, word))
      continue;
}

/* Answers that a rank that was killed has not read. */
static void drop_unread(int pmi) {
  char answer[512];
  while (recv(pmi, answer, sizeof answer, MSG_DONTWAIT) > 0)
    continue;
}

int rgi_mpich_pmi_speaks(void) {
  return getenv("PMI_FD") != NULL;
}

const char *rgi_mpich_pmi_rank(void) {
  const char *rank = getenv("PMI_RANK");
  return rank ? rank : "?";
}

void rgi_mpich_pmi_finalize(void) {
  int pmi = find_socket();
  if (pmi < 0)
    return;
  drop_unread(pmi);
  exchange(pmi, "cmd=finalize\n", "finalize_ack", ANSWER_SECONDS);
}

int rgi_mpich_pmi_is_slurm(void) {
  return getenv("PMI_JOBID") && getenv("SLURM_PROCID");
}

int rgi_mpich_pmi_has_finalized(void) {
  char byte;
  int pmi = find_socket();
  return pmi >= 0 && recv(pmi, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* Slurm takes no other command before the first one. If the rank has sent that already, Slurm logs
 * that it does not know the second one. */
void rgi_mpich_pmi_abort(int has_begun, int status) {
  char command[40];
  int pmi = find_socket();
  if (pmi < 0)
    return;
  drop_unread(pmi);
  if (!has_begun && rgi_mpich_pmi_is_slurm())
    exchange(pmi, BEGIN, "response_to_init", ABSENT_SECONDS);
  int n = snprintf(command, sizeof command, "cmd=abort exitcode=%d\n", status);
  send(pmi, command, (size_t)n, MSG_NOSIGNAL);
}

/* --- marks in the launcher's space ------------------------------------------------------------ */

static char space[LINE];

/* Whether the launcher answers with this word. */
static int ask(const char *command, const char *word, char answer[LINE]) {
  int pmi = find_socket();
  return send_line(pmi, command) && read_line(pmi, answer, SPACE_SECONDS) && strstr(answer, word);
}

static int ask_of(const char *what, const char *rank, const char *value) {
  char answer[LINE], command[2 * LINE];
  snprintf(command, sizeof command, "cmd=%s kvsname=%s key=regroup-mpi-%s%s\n", what, space, rank,
           value);
  return ask(command, "rc=0", answer);
}

int rgi_mpich_pmi_mark(void) {
  char answer[LINE];
  const char *rank = getenv("PMI_RANK");
  return find_socket() >= 0 && rank && strlen(rank) <= 12 && getenv("HYDI_CONTROL_FD") &&
         ask(BEGIN, "rc=0", answer) && ask("cmd=get_my_kvsname\n", "kvsname=", answer) &&
         sscanf(strstr(answer, "kvsname="), "kvsname=%511s", space) == 1 &&
         ask_of("put", rank, " value=1");
}

int rgi_mpich_pmi_has_marked(int rank) {
  char text[12];
  snprintf(text, sizeof text, "%d", rank);
  return ask_of("get", text, "");
}
