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
#include "base/spare.h"
#include "walkers/board/board.h"
#include "walkers/board/internode.h"
#include "walkers/board/node_loads.h"
#include "walkers/store/record_index.h"
#include "walkers/team/membership.h"
#include "walkers/team/queue.h"
#include "walkers/team/wire.h"

/* --- credit: binary digits ------------------------------------------------------------------ */

static int make_digits(rgi_internode_credit *credit, int place) {
  int room = 2 * place + 64;
  if (place < credit->digits)
    return RG_SUCCESS;
  char *more = realloc(credit->sum, (size_t)room);
  if (!more)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d digits", room);
  memset(more + credit->digits, 0, (size_t)(room - credit->digits));
  credit->sum = more;
  credit->digits = room;
  return RG_SUCCESS;
}

/* Adds 2^-place. */
static int add_credit(rgi_internode_credit *credit, int place) {
  RGI_TRY(make_digits(credit, place));
  for (; place > 0; place--) {
    credit->sum[place] ^= 1;
    if (credit->sum[place])
      break;
  }
  credit->whole += place == 0;
  return RG_SUCCESS;
}

static void free_credit(rgi_internode_credit *credit) {
  rgi_spare_free(credit->sum);
  *credit = (rgi_internode_credit){0};
}

/* The first number of each message. */
enum { QUERY, ROWS, STEAL, WALKER, NOTHING, CREDIT, END, STOP, ASIDE };

#define FIRST_PAUSE 1e-3 /* seconds between two questions of an idle group, doubled */
#define LONGEST_PAUSE 50e-3

static int64_t words_for(size_t bytes) {
  return (int64_t)((bytes + 7) / 8);
}

int rgi_internode_open(rgi_internode *internode) {
  RGI_TRY(rgi_node_loads_open(&internode->loads, internode->wire->members));
  internode->asked = -1;
  internode->next = internode->loads.mine;
  internode->when = 0;
  internode->pause = FIRST_PAUSE;
  internode->told = 0;
  return RG_SUCCESS;
}

void rgi_internode_close(rgi_internode *internode) {
  rgi_node_loads_close(&internode->loads);
  free_credit(&internode->credit);
  internode->asked = -1;
}

int rgi_internode_asked(const rgi_internode *internode) {
  return internode->loads.nodes > 0 && internode->asked >= 0;
}

/* --- the walkers at first, and the end ------------------------------------------------ */

int rgi_internode_deal(rgi_internode *internode, const rgi_queue *list, int first) {
  const rgi_node_loads *loads = &internode->loads;
  if (internode->wire->members->rank != loads->node[loads->mine].leader)
    return RG_SUCCESS;
  for (int i = first; i < list->count; i++)
    if (rgi_node_loads_first(loads->nodes, i - first) == loads->mine) {
      RGI_TRY(rgi_board_put(internode->board, &list->at[i]));
      internode->board->shared->open++;
    }
  return RG_SUCCESS;
}

static int send_one(rgi_internode *internode, int to, int64_t kind, int64_t value) {
  int64_t words[2] = {kind, value};
  return rgi_wire_send(internode->wire, to, RGI_WIRE_INTERNODE, 2, words);
}

int rgi_internode_check_end(rgi_internode *internode) {
  rgi_board_shared *board = internode->board->shared;
  if (board->open > 0 || board->returned || board->ended)
    return RG_SUCCESS;
  if (internode->loads.nodes > 1) {
    board->returned = 1;
    return send_one(internode, 0, CREDIT, board->credit);
  }
  board->ended = 1;
  rgi_board_changed(internode->board);
  return RG_SUCCESS;
}

/* Rank 0: when the credit of all nodes is back, they are told. */
static int take_credit(rgi_internode *internode, int place) {
  const rgi_node_loads *loads = &internode->loads;
  RGI_TRY(add_credit(&internode->credit, place));
  for (int i = 0; internode->credit.whole == loads->nodes && i < loads->nodes; i++)
    RGI_TRY(send_one(internode, loads->node[i].leader, END, 0));
  return RG_SUCCESS;
}

static int end_all(rgi_internode *internode) {
  RGI_TRY(rgi_board_lock(internode->board));
  internode->board->shared->ended = 1;
  rgi_board_changed(internode->board);
  rgi_board_unlock(internode->board);
  return RG_SUCCESS;
}

static int note_stop(rgi_internode *internode) {
  RGI_TRY(rgi_board_lock(internode->board));
  atomic_store(&internode->board->shared->stopping, 1);
  rgi_board_changed(internode->board);
  rgi_board_unlock(internode->board);
  return RG_SUCCESS;
}

/* Rank 0 passes it on, unless the end is on its way. */
static int take_stop(rgi_internode *internode) {
  const rgi_node_loads *loads = &internode->loads;
  int tells = internode->wire->members->rank == 0 && !internode->told &&
              internode->credit.whole < loads->nodes;
  internode->told |= tells;
  for (int i = 0; tells && i < loads->nodes; i++)
    if (i != loads->mine)
      RGI_TRY(send_one(internode, loads->node[i].leader, STOP, 0));
  return note_stop(internode);
}

int rgi_internode_stop(rgi_internode *internode) {
  RGI_TRY(note_stop(internode));
  return internode->loads.nodes > 1 ? send_one(internode, 0, STOP, 0) : RG_SUCCESS;
}

static int tell_rows(rgi_internode *internode, int to) {
  int64_t *words, count;
  int error = rgi_node_loads_tell(internode->board, &words, &count);
  if (!error) {
    words[0] = ROWS;
    error = rgi_wire_send(internode->wire, to, RGI_WIRE_INTERNODE, count, words);
  }
  rgi_spare_free(words);
  return error;
}

/* --- walkers that go to another node ----------------------------------------------------- */

/* A walker moves at most as often as there are nodes; then it stays, unless no group is here to
 * start it. */
static int may_go(const rgi_internode *internode, const rgi_queue_entry *entry, int64_t ranks) {
  int leaders = 0;
  for (int i = 0; i < internode->board->shared->processes; i++)
    leaders += internode->board->shared->row[i].leads;
  return entry->least <= ranks && (entry->moved < internode->loads.nodes || leaders == 0);
}

/* Sends a walker that so many processes can start, or NOTHING. */
static int give_walker(rgi_internode *internode, int to, int64_t ranks) {
  rgi_board_shared *board = internode->board->shared;
  rgi_queue_entry entry = {0};
  int found = 0, error = RG_SUCCESS;
  int64_t header = 2 + words_for(sizeof entry);
  RGI_TRY(rgi_board_lock(internode->board));
  while (found < board->count &&
         !may_go(internode, &rgi_board_waiting(internode->board)[found], ranks))
    found++;
  int there = found < board->count;
  if (there)
    error = rgi_board_take(internode->board, found, &entry);
  if (there && !error)
    error = rgi_record_pack_attach(internode->store, &entry);
  int64_t *words = NULL, credit = 0;
  if (there && !error) {
    words = rgi_spare_alloc_zeroed((size_t)(header + words_for(entry.bytes)), sizeof *words);
    error = rgi_internode_depart(internode, to, &credit);
  }
  rgi_board_unlock(internode->board);
  RGI_TRY(error);
  if (!there)
    return send_one(internode, to, NOTHING, 0);
  if (!words)
    return rgi_error(RG_ERR_NOMEM, "no memory for %zu bytes of a walker", entry.bytes);
  entry.moved++;
  words[0] = WALKER;
  words[1] = credit;
  memcpy(words + 2, &entry, sizeof entry);
  if (entry.memory)
    memcpy(words + header, entry.memory, entry.bytes);
  error = rgi_wire_send(internode->wire, to, RGI_WIRE_INTERNODE, header + words_for(entry.bytes),
                        words);
  rgi_spare_free(words);
  rgi_spare_free(entry.memory);
  return error;
}

/* A node needs one credit only: it returns the smaller of the two. */
int rgi_internode_arrive(rgi_internode *internode, int64_t credit) {
  rgi_board_shared *board = internode->board->shared;
  int64_t other = board->returned ? -1 : board->credit;
  board->open++;
  board->returned = 0;
  board->credit = other >= 0 && other < credit ? other : credit;
  rgi_board_changed(internode->board);
  return other < 0 ? RG_SUCCESS : send_one(internode, 0, CREDIT, other < credit ? credit : other);
}

int rgi_internode_depart(rgi_internode *internode, int to, int64_t *credit) {
  const rgi_membership *members = internode->wire->members;
  *credit = -1;
  if (rgi_membership_node_of(members, to) == rgi_membership_node_of(members, members->rank))
    return RG_SUCCESS;
  internode->board->shared->open--;
  *credit = ++internode->board->shared->credit;
  return rgi_internode_check_end(internode);
}

static int take_walker(rgi_internode *internode, int64_t words[]) {
  rgi_queue_entry entry;
  memcpy(&entry, words + 2, sizeof entry);
  entry.memory = entry.memory ? words + 2 + words_for(sizeof entry) : NULL;
  RGI_TRY(rgi_board_lock(internode->board));
  int error = rgi_board_put(internode->board, &entry);
  if (!error)
    error = rgi_internode_arrive(internode, words[1]);
  rgi_board_unlock(internode->board);
  return error;
}

/* --- walkers that meet on another node ---------------------------------------------------- */

int rgi_internode_home(const rgi_internode *internode, int64_t id) {
  return internode->loads.node[rgi_mix_bits((uint64_t)id) % (uint64_t)internode->loads.nodes]
      .leader;
}

int rgi_internode_send_aside(rgi_internode *internode, int to, int64_t credit,
                             const rgi_queue_entry *entry, const rgi_meeting *meeting) {
  int64_t place = 4 + meeting->count, state = place + words_for(sizeof *entry),
          all = state + (entry->memory ? words_for(entry->bytes) : 0);
  int64_t *words = rgi_spare_alloc_zeroed((size_t)all, sizeof *words);
  if (!words)
    return rgi_error(RG_ERR_NOMEM, "no memory for %zu bytes of a walker", entry->bytes);
  words[0] = ASIDE;
  words[1] = credit;
  words[2] = meeting->number;
  words[3] = meeting->count;
  memcpy(words + 4, meeting->ids, (size_t)meeting->count * sizeof *words);
  memcpy(words + place, entry, sizeof *entry);
  if (entry->memory)
    memcpy(words + state, entry->memory, entry->bytes);
  int error = rgi_wire_send(internode->wire, to, RGI_WIRE_INTERNODE, all, words);
  rgi_spare_free(words);
  return error;
}

static int take_aside(rgi_internode *internode, int64_t words[]) {
  rgi_meeting meeting = {.number = words[2], .count = words[3], .ids = words + 4};
  int64_t *packed = words + 4 + meeting.count;
  rgi_queue_entry entry;
  memcpy(&entry, packed, sizeof entry);
  entry.memory = entry.memory ? packed + words_for(sizeof entry) : NULL;
  RGI_TRY(rgi_board_lock(internode->board));
  int error = rgi_internode_arrive(internode, words[1]);
  if (!error)
    error = rgi_board_set_aside(internode->board, &entry, &meeting);
  if (!error)
    error = rgi_internode_check_end(internode);
  rgi_board_unlock(internode->board);
  return error;
}

/* --- questions and answers ------------------------------------------------------------------ */

static int take_answer(rgi_internode *internode, int64_t words[]) {
  int error = RG_SUCCESS;
  if (words[0] == ROWS)
    error = rgi_node_loads_take(&internode->loads, internode->asked, words);
  else if (words[0] == WALKER)
    error = take_walker(internode, words);
  else
    internode->loads.node[internode->asked].waiting = 0;
  internode->asked = -1;
  internode->when = rgi_clock_now() + internode->pause;
  internode->pause = 2 * internode->pause < LONGEST_PAUSE ? 2 * internode->pause : LONGEST_PAUSE;
  return error;
}

static int handle_message(rgi_internode *internode, int from, int64_t words[]) {
  switch (words[0]) {
  case QUERY:
    return tell_rows(internode, from);
  case STEAL:
    return give_walker(internode, from, words[1]);
  case CREDIT:
    return take_credit(internode, (int)words[1]);
  case END:
    return end_all(internode);
  case STOP:
    return take_stop(internode);
  case ASIDE:
    return take_aside(internode, words);
  default:
    return take_answer(internode, words);
  }
}

int rgi_internode_serve(rgi_internode *internode) {
  rgi_wire_received received;
  while (internode->loads.nodes > 1) {
    RGI_TRY(rgi_wire_take(internode->wire, RGI_WIRE_INTERNODE, &received));
    if (!received.words)
      break;
    int error = handle_message(internode, received.from, received.words);
    rgi_spare_free(received.words);
    RGI_TRY(error);
  }
  return RG_SUCCESS;
}

int rgi_internode_query(rgi_internode *internode, int ranks) {
  if (internode->loads.nodes == 1 || internode->asked >= 0 || rgi_clock_now() < internode->when)
    return RG_SUCCESS;
  for (int i = 0; i < internode->loads.nodes; i++)
    if (internode->loads.node[i].waiting > 0) {
      internode->asked = i;
      return send_one(internode, internode->loads.node[i].leader, STEAL, ranks);
    }
  do
    internode->next = (internode->next + 1) % internode->loads.nodes;
  while (internode->next == internode->loads.mine);
  internode->asked = internode->next;
  return send_one(internode, internode->loads.node[internode->next].leader, QUERY, 0);
}
