/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards; all state of a daemon is in `noded`, in agreement.c, connection.c and server.c.
 *
 * Daemons exchange facts (overlay.h, facts.h). Each fact stays true once it is, so it does not
 * matter in which order facts come, how often, or by which way. A fact that is new to a daemon is
 * noted, sent on to all its neighbours but the one it came from, and applied to the node's arena,
 * where waiting ranks see it. A new connection first gets all facts that are known.
 *
 * Neighbours: a daemon connects with the next living nodes at the distances 1, 2, 4, ... around the
 * ring of nodes. When a node is lost its neighbours connect with the next ones; so a fact reaches
 * all living nodes in about log2(nodes) steps. A daemon need not know of all deaths to forward.
 *
 * Detection: a death on this node is in the table of processes, whose mutexes the kernel marks;
 * a pidfd for each process wakes the daemon at once. Which nodes are part of the job the daemons
 * decide together (presence.h): a decision is one fact, and all processes of its nodes count as
 * dead. Decisions are applied in the order of their numbers. A node that learns that it is one of
 * them, or that it is in a part without a quorum, falls silent and ends (rgi_daemon_fatal_reason).
 * What a lost node still sends is ignored; it is told the facts, from which it learns that it is
 * lost.
 *
 * The end: a node tells when all its processes have come to the end or died (LEFT). The first rank
 * that sees all nodes so tells that the job has ended (ENDED); the daemon then writes the outcome
 * for its guards. A daemon stays until its neighbours have told it the same, 2 s at most
 * (rgi_daemon_needed): a connection that closed earlier would look like a lost node.
 *
 * Patience: after a death each daemon tells whether all its processes have been waiting for
 * RG_PATIENCE seconds (STALLED; of each node the last word counts, and is kept). When all nodes
 * are, nothing can happen any more, and the first of them ends the job; not while a node cannot be
 * heard. */
#include "noded/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "noded/consensus/agreement.h"
#include "noded/consensus/presence.h"
#include "noded/daemon/facts.h"
#include "noded/daemon/given_up.h"
#include "noded/daemon/news.h"
#include "noded/network/channel.h"
#include "noded/network/connection.h"
#include "noded/server/server.h"
#include "noded/wire/overlay.h"
#include "shm/arena.h"
#include "shm/revocation.h"

/* After a death elsewhere the processes of this node may take so long to return from rg_init. */
#define READY_SECONDS 5.0
/* So long at most a daemon stays after the end to hear it from its neighbours. */
#define LINGER_SECONDS 2.0
#define JOIN_SECONDS 20.0
#define BUSY_SECONDS 0.1 /* between steps, after a death or while connecting */

/* Kinds of messages on connections; the others are the channels' and connection.c's. */
enum { MESSAGE_FACT = 1, MESSAGE_DECISION = 4 };

static struct {
  rgi_overlay *overlay;
  rgi_process_table *table;
  int pipe;                 /* from the node's ranks */
  int here_left;            /* a rank has told that it has come to the end */
  int *processes;           /* a pidfd for each process of the node */
  unsigned char *lost;      /* for each node */
  unsigned char *end_heard; /* for each node: has told that the job has ended */
  uint64_t *stalled;        /* for each node; odd: all its processes wait */
  uint32_t decisions;       /* so many have been applied */
  int scanned;              /* deaths in the table that have been told */
  int ended;                /* the job has */
  double opened, ended_at;  /* when this daemon was opened; when the job ended */
  double death_at;          /* when the first death was seen; 0: none */
  double last_death_at;     /* when the last one was */
  const char *fatal_reason; /* why the job cannot go on here */
  int given_up;             /* only here: this node has no part in it any more */
} noded = {.pipe = -1};

/* --- neighbours ------------------------------------------------------------------------- */

static int next_living(int from) {
  int n = noded.overlay->nodes, at = from % n;
  while (noded.lost[at] && at != noded.overlay->mine)
    at = (at + 1) % n;
  return at;
}

/* Called again after each lost node: so the ring closes again. */
static void connect_neighbours(void) {
  for (int step = 1; step < noded.overlay->nodes; step *= 2) {
    int node = next_living(noded.overlay->mine + step);
    if (node != noded.overlay->mine)
      rgi_connection_keep(node);
  }
}

/* A neighbour without a connection, or -1. */
static int missing_neighbour(void) {
  for (int step = 1; step < noded.overlay->nodes; step *= 2) {
    int node = next_living(noded.overlay->mine + step);
    if (node != noded.overlay->mine && !rgi_connection_is_up(node))
      return node;
  }
  return -1;
}

/* --- applying facts ---------------------------------------------------------------------- */

/* The reason is the first one. */
static void give_up(const char *why) {
  if (noded.given_up || noded.ended)
    return;
  noded.fatal_reason = why;
  noded.given_up = 1;
}

static void lose_node(int node) {
  rgi_overlay *overlay = noded.overlay;
  noded.lost[node] = 1;
  if (node == overlay->mine) {
    give_up("the other nodes have given this one up: they could not reach it");
    return;
  }
  for (int i = 0; i < overlay->world; i++)
    if (rgi_overlay_rank_nodes(overlay)[i] == node)
      rgi_process_table_note_death(noded.table, i);
  atomic_store(&rgi_overlay_nodes(overlay)[node].left, 1);
  rgi_connection_drop(node);
  rgi_channel_drop(node);
  connect_neighbours();
}

/* Of a node: it is new. A later fact may come before an earlier one. */
static int note_stalled(int node, uint64_t k) {
  if (k <= noded.stalled[node])
    return 0;
  noded.stalled[node] = k;
  return 1;
}

/* One node tells what all know. */
static int tells(void) {
  return next_living(0) == noded.overlay->mine && rgi_news_are_wanted();
}

/* A node that is lost now may not have told of itself: the one before it tells as well. */
static void tell_end(void) {
  rgi_overlay *overlay = noded.overlay;
  int lost = 0, next = next_living(overlay->mine + 1);
  for (int i = 0; i < overlay->nodes; i++)
    lost += noded.lost[i];
  if (tells())
    rgi_news_end(overlay, lost, rgi_process_table_deaths(noded.table));
  if (rgi_news_are_wanted()) {
    rgi_news_left(overlay, overlay->mine);
    if (next != overlay->mine)
      rgi_news_left(overlay, next);
  }
}

/* The rank that told this has seen that all have left. */
static void end_all(void) {
  uint32_t open = 0;
  for (int i = 0; i < noded.overlay->nodes; i++)
    atomic_store(&rgi_overlay_nodes(noded.overlay)[i].left, 1);
  atomic_compare_exchange_strong(&noded.table->journal->outcome, &open, RGI_PROCESS_JOB_DONE);
  noded.ended = 1;
  noded.ended_at = rgi_clock_now();
  rgi_process_table_ring(noded.table);
  tell_end();
}

/* If the daemon that has told of earlier ones is lost by this one, its lines may be lost, too. */
static void tell_losses(const rgi_facts_decided *decision, int teller) {
  for (int i = 0; i < noded.overlay->nodes && tells() && !noded.given_up; i++)
    if (noded.lost[i] && (decision->set[i] || noded.lost[teller]))
      rgi_news_loss(noded.overlay, i);
}

static void apply_decision(const rgi_facts_decided *decision) {
  int teller = next_living(0);
  for (int i = 0; i < noded.overlay->nodes; i++)
    if (decision->set[i] && !noded.lost[i])
      lose_node(i);
  tell_losses(decision, teller);
  rgi_presence_learn(decision->number);
  rgi_agreement_node_lost();
}

/* from: as for learn_fact; decision: NULL if it is not new. Those before it may be unknown. */
static void learn_decision(const rgi_facts_decided *decision, int from) {
  if (!decision)
    return;
  rgi_connection_send_all(from, MESSAGE_DECISION, decision, rgi_facts_decision_bytes());
  while ((decision = rgi_facts_decision(noded.decisions + 1))) {
    noded.decisions++;
    apply_decision(decision);
  }
}

static void apply_fact(const rgi_overlay_fact *fact) {
  switch (fact->kind) {
  case RGI_FACT_DEAD:
    rgi_process_table_note_death(noded.table, (int)fact->value);
    break;
  case RGI_FACT_STALLED: /* noted */
    break;
  case RGI_FACT_LEFT:
    atomic_store(&rgi_overlay_nodes(noded.overlay)[fact->value].left, 1);
    rgi_process_table_ring(noded.table);
    break;
  case RGI_FACT_ENDED:
    end_all();
    break;
  default:
    rgi_revocation_note_number(noded.table, fact->value);
  }
}

static int is_valid_fact(const rgi_overlay_fact *fact) {
  uint64_t nodes = (uint64_t)noded.overlay->nodes;
  switch (fact->kind) {
  case RGI_FACT_DEAD:
    return fact->value < (uint64_t)noded.overlay->world;
  case RGI_FACT_LEFT:
    return fact->value < nodes;
  case RGI_FACT_ENDED:
    return fact->value == 0;
  default:
    return fact->kind == RGI_FACT_REVOKED || fact->kind == RGI_FACT_STALLED;
  }
}

/* What only this node can know, others cannot tell it. */
static int is_own_fact(const rgi_overlay_fact *fact) {
  const rgi_overlay *overlay = noded.overlay;
  uint64_t mine = (uint64_t)overlay->mine;
  return (fact->kind == RGI_FACT_DEAD &&
          rgi_overlay_rank_nodes(noded.overlay)[fact->value] == overlay->mine) ||
         (fact->kind == RGI_FACT_LEFT && fact->value == mine) ||
         (fact->kind == RGI_FACT_STALLED && fact->value % (uint64_t)overlay->nodes == mine);
}

static int note_fact(const rgi_overlay_fact *fact) {
  uint64_t nodes = (uint64_t)noded.overlay->nodes;
  return fact->kind == RGI_FACT_STALLED
             ? note_stalled((int)(fact->value % nodes), fact->value / nodes)
             : rgi_facts_note(fact);
}

/* from: the node that sent it; -1: it comes from this node. The end is also sent back to the node
 * that told it, which waits for that. */
static void learn_fact(rgi_overlay_fact_kind kind, uint64_t value, int from) {
  rgi_overlay_fact fact = {kind, value};
  if (!is_valid_fact(&fact) || (from >= 0 && is_own_fact(&fact)) || !note_fact(&fact))
    return;
  rgi_connection_send_all(kind == RGI_FACT_ENDED ? -1 : from, MESSAGE_FACT, &fact, sizeof fact);
  apply_fact(&fact);
}

static void send_fact(int node, rgi_overlay_fact fact) {
  rgi_connection_send(node, MESSAGE_FACT, &fact, sizeof fact);
}

/* A lost node learns from the decisions that it is lost. */
static void on_up(int node) {
  uint64_t nodes = (uint64_t)noded.overlay->nodes;
  for (uint32_t i = 1; i <= (uint32_t)nodes; i++) {
    const rgi_facts_decided *decision = rgi_facts_decision(i);
    if (decision)
      rgi_connection_send(node, MESSAGE_DECISION, decision, rgi_facts_decision_bytes());
  }
  for (size_t i = 0; i < rgi_facts_count(); i++)
    send_fact(node, rgi_facts_get(i));
  for (uint64_t i = 0; i < nodes; i++)
    if (noded.stalled[i])
      send_fact(node, (rgi_overlay_fact){RGI_FACT_STALLED, i + nodes * noded.stalled[i]});
  if (!noded.lost[node])
    rgi_channel_up(node);
}

static void receive_fact(int from, const void *data, size_t bytes) {
  rgi_overlay_fact fact;
  if (bytes != sizeof fact)
    return;
  memcpy(&fact, data, sizeof fact);
  if (fact.kind == RGI_FACT_ENDED)
    noded.end_heard[from] = 1;
  learn_fact((rgi_overlay_fact_kind)fact.kind, fact.value, from);
}

static void on_received(int from, uint32_t kind, const void *data, size_t bytes) {
  if (noded.lost[from] || noded.given_up)
    return;
  if (kind == MESSAGE_FACT)
    receive_fact(from, data, bytes);
  else if (kind == MESSAGE_DECISION)
    learn_decision(rgi_facts_note_decision(data, bytes), from);
  else if (kind == RGI_CHANNEL_MESSAGE)
    rgi_channel_receive(from, data, bytes);
}

static void on_channel(int from, uint32_t kind, const void *data, size_t bytes) {
  if (kind >= RGI_PRESENCE_MESSAGES)
    rgi_presence_receive(from, kind, data, bytes);
  else
    rgi_agreement_receive(from, kind, data, bytes);
}

static void on_broken(int node) {
  if (!noded.lost[node])
    rgi_channel_broken(node);
}

static void on_refused(int node) {
  if (!noded.ended && !noded.lost[node])
    rgi_presence_refused(node);
}

/* Which nodes are lost. */
static void on_guard(rgi_tcp *tcp) {
  rgi_tcp_queue(tcp, noded.lost, (size_t)noded.overlay->nodes);
}

static void on_decided(uint32_t number, const unsigned char set[]) {
  learn_decision(rgi_facts_decide(number + 1, set), -1);
}

/* --- this node --------------------------------------------------------------------------- */

static void read_pipe(void) {
  rgi_overlay_fact fact;
  while (read(noded.pipe, &fact, sizeof fact) == (ssize_t)sizeof fact)
    if (fact.kind == RGI_FACT_PROPOSAL)
      rgi_agreement_propose(fact.value);
    else if (fact.kind == RGI_FACT_LEFT)
      noded.here_left = 1;
    else
      learn_fact((rgi_overlay_fact_kind)fact.kind, fact.value, -1);
}

static void spread_deaths(void) {
  rgi_overlay *overlay = noded.overlay;
  rgi_process_table_check(noded.table);
  for (int n = rgi_process_table_deaths(noded.table); noded.scanned < n; noded.scanned++) {
    int rank = rgi_process_table_death(noded.table, noded.scanned);
    noded.last_death_at = rgi_clock_now();
    noded.death_at = noded.death_at > 0 ? noded.death_at : noded.last_death_at;
    if (rgi_overlay_rank_nodes(overlay)[rank] == overlay->mine)
      learn_fact(RGI_FACT_DEAD, (uint64_t)rank, -1);
  }
}

static void check_end(void) {
  uint32_t open = 0;
  if ((noded.here_left || rgi_process_table_deaths(noded.table) > 0) &&
      rgi_process_table_all_left(noded.table))
    learn_fact(RGI_FACT_LEFT, (uint64_t)noded.overlay->mine, -1);
  if (rgi_process_table_deaths(noded.table) == noded.overlay->world &&
      atomic_compare_exchange_strong(&noded.table->journal->outcome, &open, RGI_PROCESS_JOB_LOST))
    rgi_process_table_ring(noded.table);
  if (rgi_process_table_deaths(noded.table) > 0 && !noded.ended &&
      rgi_clock_now() - noded.death_at > READY_SECONDS && !rgi_process_table_all_ready(noded.table))
    noded.fatal_reason = " after a death elsewhere before rg_init had returned everywhere";
}

/* After a death all other processes may wait for one another for ever. Each has waited for longer
 * than any message takes, and so long since the last death: until a silent node is given up, all
 * may wait for it. */
static void check_patience(void) {
  static char why[100];
  int mine = noded.overlay->mine, nodes = noded.overlay->nodes;
  double patience = noded.overlay->patience;
  if (patience <= 0 || rgi_process_table_deaths(noded.table) == 0 || noded.ended)
    return;
  uint64_t k = noded.stalled[mine], stuck = rgi_clock_now() - noded.last_death_at > patience &&
                                            rgi_process_table_all_waiting(noded.table, patience);
  if ((!stuck && k % 2 == 0) || rgi_presence_is_disturbed())
    return;
  if (stuck != k % 2)
    learn_fact(RGI_FACT_STALLED, (uint64_t)mine + (uint64_t)nodes * (k + 1), -1);
  for (int i = 0; i < nodes; i++)
    if (!noded.lost[i] &&
        (noded.stalled[i] % 2 == 0 || i < mine)) /* the first living node ends the job */
      return;
  snprintf(why, sizeof why, " because a process has died and all others have been waiting for %g s",
           patience);
  noded.fatal_reason = why;
}

static void check_joined(void) {
  rgi_overlay *overlay = noded.overlay;
  if (atomic_load(&overlay->joined))
    return;
  int missing = missing_neighbour();
  if (missing < 0) {
    atomic_store(&overlay->joined, 1);
  } else if (rgi_clock_now() - noded.opened > JOIN_SECONDS) {
    snprintf(overlay->why, sizeof overlay->why, "node of rank %d: %s",
             rgi_overlay_nodes(overlay)[missing].first, rgi_connection_why(missing));
    atomic_store(&overlay->joined, -1);
  }
}

/* --- the interface ------------------------------------------------------------------------- */

/* A pidfd is readable as soon as its process has ended. Without them rg_init returns an error. */
static void watch_processes(void) {
  for (int i = 0; i < noded.table->n; i++) {
    noded.processes[i] = (int)syscall(SYS_pidfd_open, noded.table->entry[i].pid, 0);
    if (noded.processes[i] >= 0)
      rgi_connections_watch_once(noded.processes[i]);
    else if (errno != ESRCH) {
      snprintf(noded.overlay->why, sizeof noded.overlay->why, "pidfd_open: %s", strerror(errno));
      atomic_store(&noded.overlay->joined, -1);
    }
  }
}

static int open_parts(int listener) {
  static const rgi_connection_events of_connections = {.up = on_up,
                                                       .received = on_received,
                                                       .broken = on_broken,
                                                       .refused = on_refused,
                                                       .client = rgi_server_add_client,
                                                       .guard = on_guard,
                                                       .crowded = rgi_server_close_unused};
  static const rgi_presence_events of_presence = {on_decided, give_up};
  rgi_overlay *overlay = noded.overlay;
  size_t n = (size_t)overlay->nodes;
  noded.lost = calloc(n, 1);
  noded.end_heard = calloc(n, 1);
  noded.stalled = calloc(n, sizeof *noded.stalled);
  noded.processes = malloc((size_t)noded.table->n * sizeof *noded.processes);
  return noded.lost && noded.end_heard && noded.stalled && noded.processes &&
         rgi_facts_open(overlay->nodes) &&
         rgi_connections_open(overlay, listener, &of_connections) &&
         rgi_channels_open(overlay, on_channel) &&
         rgi_presence_open(overlay, noded.lost, &of_presence) && rgi_server_open(noded.table);
}

int rgi_daemon_open(rgi_overlay *overlay, rgi_process_table *table, int listener, int pipe) {
  noded.overlay = overlay;
  noded.table = table;
  noded.pipe = pipe;
  noded.opened = rgi_clock_now();
  if (!open_parts(listener))
    return 0;
  rgi_agreement_open(overlay->nodes, overlay->mine, noded.lost, table);
  fcntl(pipe, F_SETFL, O_NONBLOCK);
  rgi_connections_watch(pipe);
  watch_processes();
  atomic_store(&overlay->daemon_pid, getpid());
  connect_neighbours();
  return 1;
}

void rgi_daemon_close(void) {
  if (!noded.overlay)
    return;
  for (int i = 0; i < noded.table->n; i++)
    if (noded.processes[i] >= 0)
      close(noded.processes[i]);
  rgi_agreement_close();
  rgi_presence_close();
  rgi_channels_close();
  rgi_connections_close();
  rgi_server_close();
  if (noded.pipe >= 0)
    close(noded.pipe);
  rgi_facts_close();
  free(noded.lost);
  free(noded.end_heard);
  free(noded.stalled);
  free(noded.processes);
  memset(&noded, 0, sizeof noded);
  noded.pipe = -1;
}

int rgi_daemon_fd(void) {
  return noded.overlay ? rgi_connections_fd() : -1;
}

static double earlier(double a, double b) {
  return b >= 0 && (a < 0 || b < a) ? b : a;
}

double rgi_daemon_timeout(void) {
  if (!noded.overlay)
    return -1;
  double t = rgi_connections_timeout();
  t = earlier(t, rgi_channels_timeout());
  t = earlier(t, rgi_presence_timeout());
  return !atomic_load(&noded.overlay->joined) || rgi_process_table_deaths(noded.table) > 0
             ? earlier(t, BUSY_SECONDS)
             : t;
}

/* Decisions are made while the job runs; at its end nodes leave one after another. */
static void check_presence(void) {
  if (atomic_load(&noded.overlay->joined) > 0 && !noded.ended)
    rgi_presence_step(rgi_process_table_longest_wait(noded.table));
}

/* At once; their guards see why. */
static void end_ranks(void) {
  atomic_store(&noded.overlay->ended, 1);
  for (int i = 0; i < noded.table->n; i++)
    if (noded.processes[i] >= 0)
      syscall(SYS_pidfd_send_signal, noded.processes[i], SIGKILL, NULL, 0);
}

void rgi_daemon_step(void) {
  if (!noded.overlay || noded.given_up)
    return;
  rgi_given_up_beat(noded.overlay);
  read_pipe();
  spread_deaths();
  rgi_connections_step();
  rgi_channels_step();
  check_presence();
  spread_deaths();
  check_joined();
  check_end();
  check_patience();
  if (noded.given_up)
    end_ranks();
}

const char *rgi_daemon_fatal_reason(void) {
  return noded.fatal_reason;
}

int rgi_daemon_is_given_up(void) {
  return noded.given_up;
}

int rgi_daemon_needed(void) {
  if (!noded.overlay || !atomic_load(&noded.overlay->joined))
    return 0;
  if (!noded.ended)
    return 1;
  if (rgi_clock_now() - noded.ended_at > LINGER_SECONDS)
    return 0;
  for (int i = 0; i < noded.overlay->nodes; i++)
    if (!noded.lost[i] && !noded.end_heard[i] &&
        (rgi_connection_is_up(i) || rgi_connection_down_since(i) > 0))
      return 1;
  return !rgi_connections_flushed();
}
