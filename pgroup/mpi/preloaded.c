/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The keys are put and read with lines of PMI-1 at the socket that the launcher has opened for the
 * process: MPI's own commands come before or after these. Hydra forgets what is put before the
 * first "init", and takes a second one, MPI's. */
#include "mpi/preloaded.h"

#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_MILLISECONDS 60000
#define TAG 29541
#define LINE 512

static struct {
  int socket; /* -1: there is no hydra, or it does not answer */
  char space[LINE];
} launcher = {.socket = -1};

/* --- the launcher's space --------------------------------------------------------------------- */

/* Reads a line, byte by byte: what follows it is MPI's. 0: none has come. */
static int read_line(char answer[LINE]) {
  for (int n = 0; n < LINE - 1;) {
    struct pollfd p = {launcher.socket, POLLIN, 0};
    int ready = poll(&p, 1, ANSWER_MILLISECONDS);
    ssize_t got = ready > 0 ? read(launcher.socket, answer + n, 1) : ready;
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return 0;
    answer[n + 1] = 0;
    if (answer[n++] == '\n')
      return 1;
  }
  return 0;
}

/* Whether the launcher answers with this word. */
static int ask(const char *command, const char *word, char answer[LINE]) {
  size_t length = strlen(command);
  return send(launcher.socket, command, length, MSG_NOSIGNAL) == (ssize_t)length &&
         read_line(answer) && strstr(answer, word);
}

static int open_space(const char *rank) {
  char answer[LINE], command[2 * LINE];
  if (!ask("cmd=init pmi_version=1 pmi_subversion=1\n", "rc=0", answer) ||
      !ask("cmd=get_my_kvsname\n", "kvsname=", answer) ||
      sscanf(strstr(answer, "kvsname="), "kvsname=%511s", launcher.space) != 1)
    return 0;
  snprintf(command, sizeof command, "cmd=put kvsname=%s key=regroup-mpi-%s value=1\n",
           launcher.space, rank);
  return ask(command, "rc=0", answer);
}

void rgi_preloaded_tell(void) {
  static int told;
  const char *descriptor = getenv("PMI_FD"), *rank = getenv("PMI_RANK");
  if (told++ || !descriptor || !rank || strlen(rank) > 12 || !getenv("HYDI_CONTROL_FD"))
    return;
  launcher.socket = atoi(descriptor);
  if (!open_space(rank))
    launcher.socket = -1;
}

static int has_library(int rank) {
  char answer[LINE], command[2 * LINE];
  snprintf(command, sizeof command, "cmd=get kvsname=%s key=regroup-mpi-%d\n", launcher.space,
           rank);
  return ask(command, "rc=0", answer);
}

/* --- the tree ------------------------------------------------------------------------------------
 *
 * The children of rank r are 2 r + 1 and 2 r + 2. A part of the tree that is cut off by processes
 * without the library has a neighbour of one of those in it, so that all of the part learns it. */

enum { CHILDREN = 2 };

typedef struct {
  int parent, child[CHILDREN]; /* those that have the library, or -1 */
  int missing;                 /* the least rank that lacks it, of those found so far; or INT_MAX */
} neighbours;

static const int none_missing = 0x7fffffff;

static int look_at(neighbours *near, int rank, int size) {
  if (rank < 0 || rank >= size)
    return -1;
  if (has_library(rank))
    return rank;
  near->missing = rank < near->missing ? rank : near->missing;
  return -1;
}

static void tell_up(neighbours *near) {
  for (int i = 0; i < CHILDREN; i++) {
    int theirs;
    if (near->child[i] < 0)
      continue;
    PMPI_Recv(&theirs, 1, MPI_INT, near->child[i], TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    near->missing = theirs < near->missing ? theirs : near->missing;
  }
  if (near->parent >= 0) {
    PMPI_Send(&near->missing, 1, MPI_INT, near->parent, TAG, MPI_COMM_WORLD);
    PMPI_Recv(&near->missing, 1, MPI_INT, near->parent, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void tell_down(const neighbours *near) {
  for (int i = 0; i < CHILDREN; i++)
    if (near->child[i] >= 0)
      PMPI_Send(&near->missing, 1, MPI_INT, near->child[i], TAG, MPI_COMM_WORLD);
}

int rgi_preloaded_find_missing(int *first) {
  int rank, size;
  neighbours near = {.missing = none_missing};
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  if (launcher.socket < 0 || size == 1)
    return -1;
  near.parent = look_at(&near, rank ? (rank - 1) / CHILDREN : -1, size);
  for (int i = 0; i < CHILDREN; i++)
    near.child[i] = look_at(&near, CHILDREN * rank + 1 + i, size);
  tell_up(&near);
  tell_down(&near);
  *first = near.parent < 0;
  return near.missing == none_missing ? -1 : near.missing;
}
