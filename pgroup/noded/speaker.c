/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "noded/speaker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/pause.h"
#include "noded/council.h"
#include "noded/link.h"
#include "noded/mesh.h"
#include "noded/server.h"
#include "shm/arena.h"
#include "shm/revocation.h"

/* Who dies elsewhere while processes here have not returned from rg_init: so long they
 * may take. */
#define READY_SECONDS 5.0
/* The others are told that all is done, and tell it: so long at most. */
#define FAREWELL_SECONDS 2.0
#define JOIN_SECONDS 20.0

enum { FACT = 1 }; /* the kinds of messages; the council's follow */

static struct {
  rgi_mesh *mesh;
  rgi_process_table *table;
  int pipe, here_left;
  rgi_overlay_fact *facts; /* in the order in which they were heard of */
  size_t n, room;
  int *processes;        /* descriptors that tell of the end of this node's */
  size_t *place, places; /* where in facts, plus 1: a table of hashes, at most half full */
  unsigned char *lost, *farewell;
  uint64_t *still;    /* of each node: odd: all wait there */
  int scanned, ended; /* deaths that were told; all have ended */
  double opened, ended_at, death_at;
  const char *despair;
} speaker = {.pipe = -1};

/* --- facts ---------------------------------------------------------------------------- */

static uint64_t hash(const rgi_overlay_fact *f) {
  uint64_t x = (f->value + f->kind * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  return x ^ (x >> 29);
}

static size_t *place_of(const rgi_overlay_fact *f) {
  size_t at = hash(f) & (speaker.places - 1);
  while (speaker.place[at] && memcmp(&speaker.facts[speaker.place[at] - 1], f, sizeof *f) != 0)
    at = (at + 1) & (speaker.places - 1);
  return &speaker.place[at];
}

static int grow(void) {
  size_t room = speaker.room ? 2 * speaker.room : 256;
  rgi_overlay_fact *facts = realloc(speaker.facts, room * sizeof *facts);
  if (facts)
    speaker.facts = facts;
  size_t *place = facts ? calloc(2 * room, sizeof *place) : NULL;
  if (!place)
    return 0;
  free(speaker.place);
  speaker.place = place;
  speaker.room = room;
  speaker.places = 2 * room;
  for (size_t i = 0; i < speaker.n; i++)
    *place_of(&speaker.facts[i]) = i + 1;
  return 1;
}

/* Whether it is new. */
static int note(const rgi_overlay_fact *f) {
  if (speaker.n == speaker.room && !grow())
    return 0;
  size_t *place = place_of(f);
  if (*place)
    return 0;
  speaker.facts[speaker.n++] = *f;
  *place = speaker.n;
  return 1;
}

/* --- neighbours ------------------------------------------------------------------------- */

static int next_living(int from) {
  int n = speaker.mesh->nodes, at = from % n;
  while (speaker.lost[at] && at != speaker.mesh->mine)
    at = (at + 1) % n;
  return at;
}

/* Of a ring that is closed again by whoever has lost his neighbour. */
static void call_neighbours(void) {
  for (int step = 1; step < speaker.mesh->nodes; step *= 2) {
    int node = next_living(speaker.mesh->mine + step);
    if (node != speaker.mesh->mine)
      rgi_link_call(node);
  }
}

static int has_joined(void) {
  for (int step = 1; step < speaker.mesh->nodes; step *= 2) {
    int node = next_living(speaker.mesh->mine + step);
    if (node != speaker.mesh->mine && !rgi_link_is_up(node))
      return 0;
  }
  return 1;
}

/* --- what facts do ---------------------------------------------------------------------- */

static void learn(rgi_tell_kind kind, uint64_t value, int from);

static void lose(int node) {
  rgi_mesh *m = speaker.mesh;
  if (node == m->mine)
    speaker.despair = " because the other nodes have lost this one";
  speaker.lost[node] = 1;
  for (int i = 0; i < m->world; i++)
    if (rgi_mesh_of(m)[i] == node)
      rgi_process_table_note(speaker.table, i);
  atomic_store(&rgi_mesh_nodes(m)[node].left, 1);
  rgi_link_drop(node);
  call_neighbours();
}

/* News may overtake one another. */
static void set_still(int node, uint64_t k) {
  if (k > speaker.still[node])
    speaker.still[node] = k;
}

/* Who tells it has seen that all have left. */
static void end_all(void) {
  uint32_t open = 0;
  for (int i = 0; i < speaker.mesh->nodes; i++)
    atomic_store(&rgi_mesh_nodes(speaker.mesh)[i].left, 1);
  atomic_compare_exchange_strong(&speaker.table->journal->job.outcome, &open, RGI_JOB_DONE);
  speaker.ended = 1;
  speaker.ended_at = rgi_now();
  rgi_process_table_ring(speaker.table);
}

static void apply(const rgi_overlay_fact *f) {
  uint64_t nodes = (uint64_t)speaker.mesh->nodes;
  switch (f->kind) {
  case RGI_TELL_DEAD:
    rgi_process_table_note(speaker.table, (int)f->value);
    break;
  case RGI_TELL_LOST:
    lose((int)f->value);
    break;
  case RGI_TELL_STILL:
    set_still((int)(f->value % nodes), f->value / nodes);
    break;
  case RGI_TELL_LEFT:
    atomic_store(&rgi_mesh_nodes(speaker.mesh)[f->value].left, 1);
    rgi_process_table_ring(speaker.table);
    break;
  case RGI_TELL_ENDED:
    end_all();
    break;
  default:
    rgi_revocation_note(speaker.table, f->value);
  }
}

static int is_sound(const rgi_overlay_fact *f) {
  if (f->kind == RGI_TELL_DEAD)
    return f->value < (uint64_t)speaker.mesh->world;
  if (f->kind == RGI_TELL_LOST || f->kind == RGI_TELL_LEFT)
    return f->value < (uint64_t)speaker.mesh->nodes;
  return f->kind >= RGI_TELL_DEAD && f->kind <= RGI_TELL_STILL;
}

/* from: who told it; -1: it comes from here. The end is told to those as well who have
 * told it: they wait for it. */
static void learn(rgi_tell_kind kind, uint64_t value, int from) {
  rgi_overlay_fact f = {kind, value};
  if (!is_sound(&f) || !note(&f))
    return;
  rgi_link_send_all(kind == RGI_TELL_ENDED ? -1 : from, FACT, &f, sizeof f);
  apply(&f);
  if (kind == RGI_TELL_LOST)
    rgi_council_look();
}

static void on_up(int node) {
  for (size_t i = 0; i < speaker.n; i++)
    rgi_link_send(node, FACT, &speaker.facts[i], sizeof speaker.facts[i]);
}

static void on_heard(int from, uint32_t kind, const void *data, size_t bytes) {
  rgi_overlay_fact f;
  if (kind != FACT) {
    rgi_council_hear(from, kind, data, bytes);
    return;
  }
  if (bytes != sizeof f)
    return;
  memcpy(&f, data, sizeof f);
  if (f.kind == RGI_TELL_ENDED)
    speaker.farewell[from] = 1;
  learn((rgi_tell_kind)f.kind, f.value, from);
}

static void on_lost(int node, const char *why) {
  if (speaker.ended)
    return;
  if (!atomic_load(&speaker.mesh->joined)) {
    snprintf(speaker.mesh->why, sizeof speaker.mesh->why, "node of rank %d: %s",
             rgi_mesh_nodes(speaker.mesh)[node].first, why);
    atomic_store(&speaker.mesh->joined, -1);
  }
  learn(RGI_TELL_LOST, (uint64_t)node, -1);
}

/* --- this node --------------------------------------------------------------------------- */

static void read_pipe(void) {
  rgi_overlay_fact t;
  while (read(speaker.pipe, &t, sizeof t) == (ssize_t)sizeof t)
    if (t.kind == RGI_TELL_MOTION)
      rgi_council_request(t.value);
    else if (t.kind == RGI_TELL_LEFT)
      speaker.here_left = 1;
    else
      learn((rgi_tell_kind)t.kind, t.value, -1);
}

static void tell_deaths(void) {
  rgi_mesh *m = speaker.mesh;
  rgi_process_table_look(speaker.table);
  for (int n = rgi_process_table_deaths(speaker.table); speaker.scanned < n; speaker.scanned++) {
    int rank = rgi_process_table_death(speaker.table, speaker.scanned);
    speaker.death_at = speaker.death_at > 0 ? speaker.death_at : rgi_now();
    if (rgi_mesh_of(m)[rank] == m->mine)
      learn(RGI_TELL_DEAD, (uint64_t)rank, -1);
  }
}

static void look_at_end(void) {
  uint32_t open = 0;
  if ((speaker.here_left || rgi_process_table_deaths(speaker.table) > 0) &&
      rgi_process_table_all_left(speaker.table))
    learn(RGI_TELL_LEFT, (uint64_t)speaker.mesh->mine, -1);
  if (rgi_process_table_deaths(speaker.table) == speaker.mesh->world &&
      atomic_compare_exchange_strong(&speaker.table->journal->job.outcome, &open, RGI_JOB_LOST))
    rgi_process_table_ring(speaker.table);
  if (rgi_process_table_deaths(speaker.table) > 0 && !speaker.ended &&
      rgi_now() - speaker.death_at > READY_SECONDS &&
      atomic_load(&speaker.table->journal->job.ready) < (uint32_t)speaker.mesh->processes)
    speaker.despair = " after a death elsewhere before rg_init had returned everywhere";
}

/* Somebody has died, and all others wait for one another: nothing would happen any more. Each
 * has waited for longer than any message takes. */
static void look_at_waiting(void) {
  static char why[100];
  int mine = speaker.mesh->mine, nodes = speaker.mesh->nodes;
  double patience = speaker.mesh->patience;
  if (patience <= 0 || rgi_process_table_deaths(speaker.table) == 0 || speaker.ended)
    return;
  uint64_t k = speaker.still[mine],
           stuck = (uint64_t)rgi_process_table_stuck(speaker.table, patience);
  if (stuck != k % 2)
    learn(RGI_TELL_STILL, (uint64_t)mine + (uint64_t)nodes * (k + 1), -1);
  for (int i = 0; i < nodes; i++)
    if (!speaker.lost[i] && (speaker.still[i] % 2 == 0 || i < mine)) /* the first one says it */
      return;
  snprintf(why, sizeof why, " because somebody has died and all others have been waiting for %g s",
           patience);
  speaker.despair = why;
}

static void look_at_joining(void) {
  if (atomic_load(&speaker.mesh->joined))
    return;
  if (has_joined())
    atomic_store(&speaker.mesh->joined, 1);
  else if (rgi_now() - speaker.opened > JOIN_SECONDS) {
    snprintf(speaker.mesh->why, sizeof speaker.mesh->why, "no answer within %.0f s", JOIN_SECONDS);
    atomic_store(&speaker.mesh->joined, -1);
  }
}

/* --- from outside ------------------------------------------------------------------------- */

/* Readable when the process ends, at once. */
static void watch_processes(void) {
  for (int i = 0; i < speaker.table->n; i++) {
    speaker.processes[i] = (int)syscall(SYS_pidfd_open, speaker.table->state[i].pid, 0);
    if (speaker.processes[i] >= 0)
      rgi_links_watch_once(speaker.processes[i]);
  }
}

int rgi_speaker_open(rgi_mesh *mesh, rgi_process_table *table, int listener, int pipe) {
  static const rgi_link_events events = {on_up, on_heard, on_lost, rgi_server_take};
  speaker.mesh = mesh;
  speaker.table = table;
  table->ranks = rgi_mesh_ranks(mesh);
  speaker.pipe = pipe;
  speaker.lost = calloc((size_t)mesh->nodes, 1);
  speaker.farewell = calloc((size_t)mesh->nodes, 1);
  speaker.still = calloc((size_t)mesh->nodes, sizeof *speaker.still);
  speaker.processes = malloc((size_t)mesh->processes * sizeof *speaker.processes);
  speaker.opened = rgi_now();
  if (!speaker.lost || !speaker.farewell || !speaker.still || !speaker.processes ||
      !rgi_links_open(mesh, listener, &events))
    return 0;
  rgi_council_open(mesh->mine, speaker.lost, table);
  fcntl(pipe, F_SETFL, O_NONBLOCK);
  rgi_links_watch(pipe);
  watch_processes();
  atomic_store(&mesh->speaker, getpid());
  call_neighbours();
  return 1;
}

void rgi_speaker_close(void) {
  if (!speaker.mesh)
    return;
  for (int i = 0; i < speaker.table->n; i++)
    if (speaker.processes[i] >= 0)
      close(speaker.processes[i]);
  rgi_council_close();
  rgi_links_close();
  rgi_server_close();
  if (speaker.pipe >= 0)
    close(speaker.pipe);
  free(speaker.facts);
  free(speaker.place);
  free(speaker.lost);
  free(speaker.farewell);
  free(speaker.still);
  free(speaker.processes);
  memset(&speaker, 0, sizeof speaker);
  speaker.pipe = -1;
}

int rgi_speaker_fd(void) {
  return speaker.mesh ? rgi_links_fd() : -1;
}

int rgi_speaker_busy(void) {
  return speaker.mesh && (rgi_links_busy() || !atomic_load(&speaker.mesh->joined) ||
                          rgi_process_table_deaths(speaker.table) > 0);
}

void rgi_speaker_step(void) {
  if (!speaker.mesh)
    return;
  read_pipe();
  tell_deaths();
  rgi_links_step();
  tell_deaths();
  look_at_joining();
  look_at_end();
  look_at_waiting();
}

const char *rgi_speaker_despair(void) {
  return speaker.despair;
}

int rgi_speaker_needed(void) {
  if (!speaker.mesh || !atomic_load(&speaker.mesh->joined))
    return 0;
  if (!speaker.ended)
    return 1;
  if (rgi_now() - speaker.ended_at > FAREWELL_SECONDS)
    return 0;
  for (int i = 0; i < speaker.mesh->nodes; i++)
    if (rgi_link_is_up(i) && !speaker.farewell[i])
      return 1;
  return !rgi_links_flushed();
}
