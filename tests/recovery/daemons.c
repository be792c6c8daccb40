/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What test_daemons.py starts, with RG_SURVIVE=1 on several nodes, each with a process of the
 * launcher's: daemons PLAN SEED. PLAN is "node:how,node:how": one after the other these nodes
 * lose their daemon, and all their processes with it. how:
 *
 *     barrier  the others are in a barrier
 *     vote     they agree, and wait for that node's vote
 *     agree    all agree again and again
 *     shrink   all shrink the group again and again
 *     late     the others agree; the launcher's process on that node is stopped for a while
 *
 * The survivors find just that node's processes dead, have the same answers, shrink and go on. In
 * the end their rank 0 prints "SURVIVED survivors". */
#include <sys/time.h>

#include "noded/client/overlay_client.h"
#include "ranks.h"
#include "shm/node.h"

static rg_group group;
static uint64_t answers; /* of all agreements and shrinkings, mixed */
static unsigned long random_state;

static int draw(int n) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (int)((random_state >> 33) % (unsigned long)n);
}

static int is_mine(int node) {
  return rgi_overlay_get()->mine == node;
}

static void kill_daemon(int sign) {
  (void)sign;
  kill(rgi_overlay_get()->daemon_pid, SIGKILL);
}

/* By the node's first process, soon. */
static void strike(int node, int most) {
  struct itimerval timer = {{0, 0}, {0, 1 + draw(most)}};
  if (!is_mine(node) || rgi_overlay_nodes(rgi_overlay_get())[node].first != my_rank)
    return;
  signal(SIGALRM, kill_daemon);
  must(!setitimer(ITIMER_REAL, &timer, NULL), "setitimer");
}

/* The parent of a process. */
static int parent_of(int pid) {
  char path[32];
  int parent = -1;
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *f = fopen(path, "r");
  must(f && fscanf(f, "%*d (%*[^)]) %*c %d", &parent) == 1, path);
  fclose(f);
  return parent;
}

#define STOPPED_SECONDS 6 /* longer than a guard waits for it */

/* The guards whose daemon is gone act before the launcher's process on their node does. */
static void stop_launcher(int node) {
  char command[100];
  if (!is_mine(node) || rgi_overlay_nodes(rgi_overlay_get())[node].first != my_rank)
    return;
  int launcher = parent_of(getppid());
  snprintf(command, sizeof command, "(sleep %d; kill -CONT %d) </dev/null >/dev/null 2>&1 &",
           STOPPED_SECONDS, launcher);
  must(!system(command) && !kill(launcher, SIGSTOP), "stopping the launcher's process");
}

static void heard(uint64_t answer) {
  answers = mix(answers * 31 + answer + 1);
}

/* --- what is under way when it happens ---------------------------------------------------- */

/* Processes of the node that is to be killed stay here. The launcher sends them signals. */
static void await_end(int node) {
  while (is_mine(node))
    pause();
}

static void in_barrier(int node) {
  await_end(node);
  while (!survivable(rg_barrier(group), "rg_barrier"))
    continue;
}

static int agree(void) {
  unsigned word = ~(1u << my_rank % 31);
  int failed;
  must(!rg_group_agree(group, &word, &failed), "rg_group_agree");
  must(!(word & 1u << my_rank % 31), "the agreed word: mine is not in it");
  heard((uint64_t)word << 1 | (unsigned)failed);
  return failed;
}

static void in_voting(int node) {
  await_end(node);
  must(agree(), "an agreement without the votes of the dead");
}

/* The survivors go on longer than the launcher's process is stopped. */
static void after_launcher(int node) {
  in_voting(node);
  sleep(STOPPED_SECONDS + 1);
}

static void in_agreeing(int node) {
  (void)node;
  while (!agree())
    continue;
}

static int shrink(void) {
  int before = size_of(group);
  drop_dead(&group);
  heard((uint64_t)size_of(group));
  return size_of(group) < before;
}

static void in_shrinking(int node) {
  (void)node;
  while (!shrink())
    continue;
}

static const struct {
  const char *name;
  void (*wait)(int node);
  int most; /* microseconds until it happens */
} ways[] = {{"barrier", in_barrier, 1000},
            {"vote", in_voting, 50000},
            {"late", after_launcher, 1000},
            {"agree", in_agreeing, 20000},
            {"shrink", in_shrinking, 20000}};

/* --- afterwards ----------------------------------------------------------------------------- */

/* All survivors have the same group, without that node, and have heard the same. */
static int compare(int node) {
  uint64_t least[2] = {answers, ~answers};
  int n = size_of(group), world[64];
  if (survivable(rg_allreduce(group, MPI_IN_PLACE, least, 2, MPI_UINT64_T, MPI_MIN),
                 "rg_allreduce"))
    return 0;
  must(least[0] == answers && least[1] == ~answers, "another answer than others have");
  must(!rg_group_members(group, world), "rg_group_members");
  for (int i = 0; i < n; i++)
    must(rgi_node_of(world[i]) != node, "a dead process is in the survivors' group");
  return 1;
}

static void lose(int node, const char *how) {
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
    if (!strcmp(ways[i].name, how)) {
      all_here(group);
      if (!strcmp(how, "late"))
        stop_launcher(node);
      strike(node, ways[i].most);
      ways[i].wait(node);
    }
  do
    shrink();
  while (!compare(node));
}

int main(int argc, char **argv) {
  char how[16];
  group = enter_world(&argc, &argv);
  must(argc == 3, "two arguments");
  random_state = strtoul(argv[2], NULL, 10) * 64 + (unsigned long)my_rank;
  for (const char *p = argv[1]; p && *p;
       p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL, round_now++)
    if (sscanf(p, "%d:%15[a-z]", &argc, how) == 2)
      lose(argc, how);
  if (rank_in(group) == 0)
    printf("SURVIVED %d\n", size_of(group));
  leave_world(&group);
  return 0;
}
