/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPICH's launcher tells each process how many it starts on the node, and which of them it is. It
 * has all of them as children from the beginning, so one that is missing has ended. mpiexec itself
 * has a child for each node, which ends when all processes of the node have, and which it does not
 * wait for before the end of the job: until then the kernel shows it as a zombie. It leads a
 * session. Other children are those of a shell that has become mpiexec (exec). */
#include "mpich/mpich.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/launcher.h"

static int read_file(pid_t pid, const char *name, char *text, size_t bytes) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
  FILE *f = fopen(path, "r");
  if (!f)
    return 0;
  size_t n = fread(text, 1, bytes - 1, f);
  text[n] = 0;
  fclose(f);
  return (int)n;
}

/* Calls visit for each child of the process, which may have several threads; returns the sum. */
static int visit_children(pid_t parent, int (*visit)(pid_t child, void *context), void *context) {
  char path[64];
  int sum = 0, child;
  snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
  DIR *all = opendir(path);
  for (struct dirent *d; all && (d = readdir(all));) {
    char list[sizeof path + sizeof d->d_name + 16];
    snprintf(list, sizeof list, "%s/%s/children", path, d->d_name);
    FILE *f = d->d_name[0] != '.' ? fopen(list, "r") : NULL;
    while (f && fscanf(f, "%d", &child) == 1)
      sum += visit(child, context);
    if (f)
      fclose(f);
  }
  if (all)
    closedir(all);
  return sum;
}

static int count_one(pid_t pid, void *context) {
  (void)pid;
  (void)context;
  return 1;
}

static int is_guard(pid_t pid, void *context) {
  char name[32];
  (void)context;
  return read_file(pid, "comm", name, sizeof name) && !strncmp(name, "regroup-", 8);
}

/* A process that has no guard yet lives, too, and so does one that never gets one. */
static int lives(pid_t pid, void *context) {
  return pid != getpid() && (!is_guard(pid, context) || visit_children(pid, count_one, NULL) > 0);
}

int rgi_mpich_siblings_live(void) {
  return visit_children(getppid(), lives, NULL) > 0;
}

int rgi_mpich_siblings_are_all(void) {
  int here = rgi_launcher_number("MPI_LOCALNRANKS");
  return here > 0 ? here == rgi_launcher_number("PMI_SIZE")
                  : rgi_launcher_number("SLURM_STEP_NUM_NODES") == 1;
}

/* --- processes that have ended without a guard ------------------------------------------------ */

/* The rank of a process, by its environment: the launcher's variables are the first ones. */
static int rank_of(pid_t pid) {
  char text[65536];
  int n = read_file(pid, "environ", text, sizeof text);
  for (const char *v = text; v < text + n; v += strlen(v) + 1)
    if (!strncmp(v, "PMI_RANK=", 9))
      return atoi(v + 9);
  return -1;
}

typedef struct {
  int first, n;       /* the ranks of this node */
  unsigned char *has; /* for each, whether there is a process */
} rank_list;

static int note_rank(pid_t pid, void *context) {
  rank_list *ranks = context;
  int i = rank_of(pid) - ranks->first;
  if (i >= 0 && i < ranks->n)
    ranks->has[i] = 1;
  return 1;
}

/* Which it is is known where the launcher gives the ranks of a node in a row. */
static int find_missing(int n) {
  int missing = RGI_MPICH_NO_SIBLING, known = 0;
  rank_list ranks = {.first =
                         rgi_launcher_number("PMI_RANK") - rgi_launcher_number("MPI_LOCALRANKID"),
                     .n = n,
                     .has = calloc((size_t)n, 1)};
  int there = ranks.has ? visit_children(getppid(), note_rank, &ranks) : n;
  for (int i = n - 1; there < n && i >= 0; i--) {
    known += ranks.has[i];
    missing = ranks.has[i] ? missing : ranks.first + i;
  }
  free(ranks.has);
  return there == n || known == there ? missing : RGI_MPICH_SOME_SIBLING;
}

int rgi_mpich_siblings_unstarted(void) {
  static int guards; /* most that were seen at once */
  char launcher[32];
  int n = rgi_launcher_number("MPI_LOCALNRANKS");
  if (n < 2 || !read_file(getppid(), "comm", launcher, sizeof launcher) ||
      strncmp(launcher, "hydra_pmi_proxy", 15) != 0)
    return RGI_MPICH_NO_SIBLING;
  int now = visit_children(getppid(), is_guard, NULL);
  guards = now > guards ? now : guards;
  return guards < n ? find_missing(n) : RGI_MPICH_NO_SIBLING;
}

/* --- nodes on which all have ended ------------------------------------------------------------ */

/* 0: it is gone. */
static char read_stat(pid_t pid, int *parent, int *session) {
  char text[512], state;
  const char *end = read_file(pid, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;
  return end && sscanf(end, ") %c %d %*d %d", &state, parent, session) == 3 ? state : 0;
}

static pid_t parent_of(pid_t pid) {
  int parent, session;
  return read_stat(pid, &parent, &session) ? parent : 0;
}

typedef struct {
  int n, ended; /* children so far; the first one that has ended, or -1 */
} node_list;

static int note_node(pid_t pid, void *context) {
  node_list *nodes = context;
  int parent, session = 0;
  char state = read_stat(pid, &parent, &session);
  if (session != pid)
    return 0;
  if (nodes->ended < 0 && state == 'Z')
    nodes->ended = nodes->n;
  nodes->n++;
  return 1;
}

int rgi_mpich_siblings_ended_node(void) {
  node_list nodes = {.ended = -1};
  char name[32];
  pid_t launcher = parent_of(getppid());
  if (rgi_launcher_number("MPI_LOCALNRANKS") < 1 || rgi_mpich_siblings_are_all() || launcher <= 1 ||
      !read_file(launcher, "comm", name, sizeof name) || strncmp(name, "mpi", 3) != 0)
    return -1;
  visit_children(launcher, note_node, &nodes);
  return nodes.ended;
}
