/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A message between nodes is a list of numbers; the first says what it is. An idle leader asks one
 * node at a time: QUERY is answered by ROWS, the other node's groups and how many walkers wait
 * there; STEAL by a WALKER or NOTHING. Between two questions it pauses, for 1 ms at first and 50 ms
 * at most.
 *
 * A node's credit is 2^-credit, at first 1. Rank 0 adds what is returned as binary digits. When the
 * sum is the number of nodes it sends END to each node's leader. A process that finds that the run
 * is to end early sends STOP to rank 0, which sends it on to each node's leader, so that it comes
 * before END. ASIDE brings a walker that is to meet others. A walker that is set aside is no open
 * one: it goes on only when another one comes, and that one has a credit. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mix.h"
#include "walkers/board/board.h"
#include "walkers/board/credit.h"
#include "walkers/board/internode.h"
#include "walkers/board/node_loads.h"
#include "walkers/store/record_pack.h"
#include "walkers/team/membership.h"
#include "walkers/team/queue.h"
#include "walkers/team/wire.h"

/* The first number of each message. */
enum { QUERY, ROWS, STEAL, WALKER, NOTHING, CREDIT, END, STOP, ASIDE };

#define FIRST_PAUSE 1e-3 /* seconds between two questions of an idle group, doubled */
#define LONGEST_PAUSE 50e-3

static int64_t words_for(size_t bytes) {
  return (int64_t)((bytes + 7) / 8);
}

int rgi_internode_open(rgi_internode *f) {
  RGI_TRY(rgi_node_loads_open(&f->loads, f->wire->members));
  f->asked = -1;
  f->next = f->loads.mine;
  f->when = 0;
  f->pause = FIRST_PAUSE;
  f->told = 0;
  return RG_SUCCESS;
}

void rgi_internode_close(rgi_internode *f) {
  rgi_node_loads_close(&f->loads);
  rgi_credit_free(&f->credit);
  f->asked = -1;
}

int rgi_internode_asked(const rgi_internode *f) {
  return f->loads.nodes > 0 && f->asked >= 0;
}

/* --- the walkers at first, and the end ------------------------------------------------ */

int rgi_internode_deal(rgi_internode *f, const rgi_queue *list, int first) {
  const rgi_node_loads *l = &f->loads;
  if (f->wire->members->rank != l->node[l->mine].leader)
    return RG_SUCCESS;
  for (int i = first; i < list->count; i++)
    if (rgi_node_loads_first(l->nodes, i - first) == l->mine) {
      RGI_TRY(rgi_board_put(f->board, &list->at[i]));
      f->board->shared->open++;
    }
  return RG_SUCCESS;
}

static int send_one(rgi_internode *f, int to, int64_t kind, int64_t value) {
  int64_t words[2] = {kind, value};
  return rgi_wire_send(f->wire, to, RGI_WIRE_INTERNODE, 2, words);
}

int rgi_internode_check_end(rgi_internode *f) {
  rgi_board_shared *board = f->board->shared;
  if (board->open > 0 || board->returned || board->ended)
    return RG_SUCCESS;
  if (f->loads.nodes > 1) {
    board->returned = 1;
    return send_one(f, 0, CREDIT, board->credit);
  }
  board->ended = 1;
  rgi_board_changed(f->board);
  return RG_SUCCESS;
}

/* Rank 0: when the credit of all nodes is back, they are told. */
static int take_credit(rgi_internode *f, int place) {
  const rgi_node_loads *l = &f->loads;
  RGI_TRY(rgi_credit_add(&f->credit, place));
  for (int i = 0; f->credit.whole == l->nodes && i < l->nodes; i++)
    RGI_TRY(send_one(f, l->node[i].leader, END, 0));
  return RG_SUCCESS;
}

static int end_all(rgi_internode *f) {
  RGI_TRY(rgi_board_lock(f->board));
  f->board->shared->ended = 1;
  rgi_board_changed(f->board);
  rgi_board_unlock(f->board);
  return RG_SUCCESS;
}

static int note_stop(rgi_internode *f) {
  RGI_TRY(rgi_board_lock(f->board));
  atomic_store(&f->board->shared->stopping, 1);
  rgi_board_changed(f->board);
  rgi_board_unlock(f->board);
  return RG_SUCCESS;
}

/* Rank 0 passes it on, unless the end is on its way. */
static int take_stop(rgi_internode *f) {
  const rgi_node_loads *l = &f->loads;
  int tells = f->wire->members->rank == 0 && !f->told && f->credit.whole < l->nodes;
  f->told |= tells;
  for (int i = 0; tells && i < l->nodes; i++)
    if (i != l->mine)
      RGI_TRY(send_one(f, l->node[i].leader, STOP, 0));
  return note_stop(f);
}

int rgi_internode_stop(rgi_internode *f) {
  RGI_TRY(note_stop(f));
  return f->loads.nodes > 1 ? send_one(f, 0, STOP, 0) : RG_SUCCESS;
}

static int tell_rows(rgi_internode *f, int to) {
  int64_t *words, count;
  int error = rgi_node_loads_tell(f->board, &words, &count);
  if (!error) {
    words[0] = ROWS;
    error = rgi_wire_send(f->wire, to, RGI_WIRE_INTERNODE, count, words);
  }
  free(words);
  return error;
}

/* --- walkers that go to another node ----------------------------------------------------- */

/* A walker moves at most as often as there are nodes; then it stays, unless no group is here to
 * start it. */
static int may_go(const rgi_internode *f, const rgi_queue_entry *e, int64_t ranks) {
  int leaders = 0;
  for (int i = 0; i < f->board->shared->processes; i++)
    leaders += f->board->shared->row[i].leads;
  return e->least <= ranks && (e->moved < f->loads.nodes || leaders == 0);
}

/* Sends a walker that so many processes can start, or NOTHING. */
static int give_walker(rgi_internode *f, int to, int64_t ranks) {
  rgi_board_shared *board = f->board->shared;
  rgi_queue_entry e = {0};
  int found = 0, error = RG_SUCCESS;
  int64_t header = 2 + words_for(sizeof e);
  RGI_TRY(rgi_board_lock(f->board));
  while (found < board->count && !may_go(f, &rgi_board_waiting(f->board)[found], ranks))
    found++;
  int there = found < board->count;
  if (there)
    error = rgi_board_take(f->board, found, &e);
  if (there && !error)
    error = rgi_record_pack_attach(f->store, &e);
  int64_t *words = NULL, credit = 0;
  if (there && !error) {
    words = calloc((size_t)(header + words_for(e.bytes)), sizeof *words);
    error = rgi_internode_depart(f, to, &credit);
  }
  rgi_board_unlock(f->board);
  RGI_TRY(error);
  if (!there)
    return send_one(f, to, NOTHING, 0);
  if (!words)
    return rgi_error(RG_ERR_NOMEM, "no memory for %zu bytes of a walker", e.bytes);
  e.moved++;
  words[0] = WALKER;
  words[1] = credit;
  memcpy(words + 2, &e, sizeof e);
  if (e.memory)
    memcpy(words + header, e.memory, e.bytes);
  error = rgi_wire_send(f->wire, to, RGI_WIRE_INTERNODE, header + words_for(e.bytes), words);
  free(words);
  free(e.memory);
  return error;
}

/* A node needs one credit only: it returns the smaller of the two. */
int rgi_internode_arrive(rgi_internode *f, int64_t credit) {
  rgi_board_shared *board = f->board->shared;
  int64_t other = board->returned ? -1 : board->credit;
  board->open++;
  board->returned = 0;
  board->credit = other >= 0 && other < credit ? other : credit;
  rgi_board_changed(f->board);
  return other < 0 ? RG_SUCCESS : send_one(f, 0, CREDIT, other < credit ? credit : other);
}

int rgi_internode_depart(rgi_internode *f, int to, int64_t *credit) {
  const rgi_membership *m = f->wire->members;
  *credit = -1;
  if (rgi_membership_node_of(m, to) == rgi_membership_node_of(m, m->rank))
    return RG_SUCCESS;
  f->board->shared->open--;
  *credit = ++f->board->shared->credit;
  return rgi_internode_check_end(f);
}

static int take_walker(rgi_internode *f, int64_t words[]) {
  rgi_queue_entry e;
  memcpy(&e, words + 2, sizeof e);
  e.memory = e.memory ? words + 2 + words_for(sizeof e) : NULL;
  RGI_TRY(rgi_board_lock(f->board));
  int error = rgi_board_put(f->board, &e);
  if (!error)
    error = rgi_internode_arrive(f, words[1]);
  rgi_board_unlock(f->board);
  return error;
}

/* --- walkers that meet on another node ---------------------------------------------------- */

int rgi_internode_home(const rgi_internode *f, int64_t id) {
  return f->loads.node[rgi_mix_bits((uint64_t)id) % (uint64_t)f->loads.nodes].leader;
}

int rgi_internode_send_aside(rgi_internode *f, int to, int64_t credit, const rgi_queue_entry *e,
                             const rgi_meeting *m) {
  int64_t entry = 4 + m->count, state = entry + words_for(sizeof *e),
          all = state + (e->memory ? words_for(e->bytes) : 0);
  int64_t *words = calloc((size_t)all, sizeof *words);
  if (!words)
    return rgi_error(RG_ERR_NOMEM, "no memory for %zu bytes of a walker", e->bytes);
  words[0] = ASIDE;
  words[1] = credit;
  words[2] = m->number;
  words[3] = m->count;
  memcpy(words + 4, m->ids, (size_t)m->count * sizeof *words);
  memcpy(words + entry, e, sizeof *e);
  if (e->memory)
    memcpy(words + state, e->memory, e->bytes);
  int error = rgi_wire_send(f->wire, to, RGI_WIRE_INTERNODE, all, words);
  free(words);
  return error;
}

static int take_aside(rgi_internode *f, int64_t words[]) {
  rgi_meeting m = {.number = words[2], .count = words[3], .ids = words + 4};
  int64_t *entry = words + 4 + m.count;
  rgi_queue_entry e;
  memcpy(&e, entry, sizeof e);
  e.memory = e.memory ? entry + words_for(sizeof e) : NULL;
  RGI_TRY(rgi_board_lock(f->board));
  int error = rgi_internode_arrive(f, words[1]);
  if (!error)
    error = rgi_board_set_aside(f->board, &e, &m);
  if (!error)
    error = rgi_internode_check_end(f);
  rgi_board_unlock(f->board);
  return error;
}

/* --- questions and answers ------------------------------------------------------------------ */

static int take_answer(rgi_internode *f, int64_t words[]) {
  int error = RG_SUCCESS;
  if (words[0] == ROWS)
    error = rgi_node_loads_take(&f->loads, f->asked, words);
  else if (words[0] == WALKER)
    error = take_walker(f, words);
  else
    f->loads.node[f->asked].waiting = 0;
  f->asked = -1;
  f->when = rgi_clock_now() + f->pause;
  f->pause = 2 * f->pause < LONGEST_PAUSE ? 2 * f->pause : LONGEST_PAUSE;
  return error;
}

static int handle_message(rgi_internode *f, int from, int64_t words[]) {
  switch (words[0]) {
  case QUERY:
    return tell_rows(f, from);
  case STEAL:
    return give_walker(f, from, words[1]);
  case CREDIT:
    return take_credit(f, (int)words[1]);
  case END:
    return end_all(f);
  case STOP:
    return take_stop(f);
  case ASIDE:
    return take_aside(f, words);
  default:
    return take_answer(f, words);
  }
}

int rgi_internode_serve(rgi_internode *f) {
  rgi_wire_received m;
  while (f->loads.nodes > 1) {
    RGI_TRY(rgi_wire_take(f->wire, RGI_WIRE_INTERNODE, &m));
    if (!m.words)
      break;
    int error = handle_message(f, m.from, m.words);
    free(m.words);
    RGI_TRY(error);
  }
  return RG_SUCCESS;
}

int rgi_internode_query(rgi_internode *f, int ranks) {
  if (f->loads.nodes == 1 || f->asked >= 0 || rgi_clock_now() < f->when)
    return RG_SUCCESS;
  for (int i = 0; i < f->loads.nodes; i++)
    if (f->loads.node[i].waiting > 0) {
      f->asked = i;
      return send_one(f, f->loads.node[i].leader, STEAL, ranks);
    }
  do
    f->next = (f->next + 1) % f->loads.nodes;
  while (f->next == f->loads.mine);
  f->asked = f->next;
  return send_one(f, f->loads.node[f->next].leader, QUERY, 0);
}
