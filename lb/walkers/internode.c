/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A message between nodes is a list of numbers; the first says what it is. An idle leader asks one
 * node at a time: QUERY is answered by ROWS, the other node's groups and how many walkers wait
 * there; STEAL by a WALKER or NOTHING. Between two questions it pauses, for 1 ms at first and 50 ms
 * at most.
 *
 * A node's credit is 2^-credit, at first 1. Rank 0 adds what is returned as binary digits. When the
 * sum is the number of nodes it sends END to each node's leader. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "formation/group.h"
#include "formation/members.h"
#include "shm/node.h"
#include "walkers/balancer_state.h"
#include "walkers/internode.h"
#include "walkers/load_board.h"
#include "walkers/queue.h"
#include "walkers/store_pack.h"
#include "walkers/wire.h"

/* The first number of each message. */
enum { QUERY, ROWS, STEAL, WALKER, NOTHING, CREDIT, END };

#define FIRST_PAUSE 1e-3 /* seconds between two questions of an idle group, doubled */
#define LONGEST_PAUSE 50e-3

/* What another node has answered last. */
typedef struct {
  int leader, waiting, count, room;
  rgi_load_board_row *row;
} node_report;

struct rgi_internode {
  int nodes, mine;
  node_report *node;
  int asked, next;    /* the node that was asked, or -1; the one to be asked next */
  double when, pause; /* the time for the next question */
  char *sum;          /* rank 0: credit returned, binary digits after the point */
  int digits, whole;
};

static int words_for(size_t bytes) {
  return (int)((bytes + 7) / 8);
}

static int world_rank(rg_balancer b, int rank) {
  return rgi_members_at(b->all->members, rank);
}

static int node_of_rank(rg_balancer b, int rank) {
  return rgi_node_of(world_rank(b, rank));
}

static int add_node(struct rgi_internode *f, int leader) {
  node_report *more = realloc(f->node, (size_t)(f->nodes + 1) * sizeof *more);
  if (!more)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d nodes", f->nodes + 1);
  f->node = more;
  f->node[f->nodes++] = (node_report){.leader = leader};
  return RG_SUCCESS;
}

int rgi_internode_open(rg_balancer b) {
  struct rgi_internode *f = calloc(1, sizeof *f);
  b->nodes = f;
  if (!f)
    return rgi_error(RG_ERR_NOMEM, "no memory for what other nodes tell");
  for (int r = 0; r < b->size; r++) {
    int i = 0, of = node_of_rank(b, r);
    while (i < f->nodes && node_of_rank(b, f->node[i].leader) != of)
      i++;
    if (i == f->nodes)
      RGI_TRY(add_node(f, r));
    if (r == b->rank)
      f->mine = i;
  }
  f->asked = -1;
  f->next = f->mine;
  f->pause = FIRST_PAUSE;
  return RG_SUCCESS;
}

void rgi_internode_close(rg_balancer b) {
  struct rgi_internode *f = b->nodes;
  for (int i = 0; f && i < f->nodes; i++)
    free(f->node[i].row);
  if (f) {
    free(f->node);
    free(f->sum);
  }
  free(f);
  b->nodes = NULL;
}

int rgi_internode_asked(rg_balancer b) {
  return b->nodes && b->nodes->asked >= 0;
}

/* --- the walkers at first, and the end ------------------------------------------------ */

int rgi_internode_deal(rg_balancer b, int groups) {
  const struct rgi_internode *f = b->nodes;
  if (b->rank != f->node[f->mine].leader)
    return RG_SUCCESS;
  for (int i = groups; i < b->list.count; i++)
    if ((i - groups) % f->nodes == f->mine) {
      RGI_TRY(rgi_load_board_put(b, &b->list.at[i]));
      b->board->open++;
    }
  return RG_SUCCESS;
}

static int send_one(rg_balancer b, int to, int64_t kind, int64_t value) {
  int64_t words[2] = {kind, value};
  return rgi_wire_send(b, to, RGI_WIRE_INTERNODE, 2, words);
}

int rgi_internode_check_end(rg_balancer b) {
  rgi_load_board *board = b->board;
  if (board->open > 0 || board->returned || board->ended)
    return RG_SUCCESS;
  if (b->nodes->nodes > 1) {
    board->returned = 1;
    return send_one(b, 0, CREDIT, board->credit);
  }
  board->ended = 1;
  rgi_load_board_changed(b);
  return RG_SUCCESS;
}

/* Rank 0 adds 2^-place to the credit returned. */
static int add_credit(rg_balancer b, int place) {
  struct rgi_internode *f = b->nodes;
  if (place >= f->digits) {
    int room = 2 * place + 64;
    char *more = realloc(f->sum, (size_t)room);
    if (!more)
      return rgi_error(RG_ERR_NOMEM, "no memory for %d digits", room);
    memset(more + f->digits, 0, (size_t)(room - f->digits));
    f->sum = more;
    f->digits = room;
  }
  for (; place > 0; place--) {
    f->sum[place] ^= 1;
    if (f->sum[place])
      break;
  }
  f->whole += place == 0;
  for (int i = 0; f->whole == f->nodes && i < f->nodes; i++)
    RGI_TRY(send_one(b, f->node[i].leader, END, 0));
  return RG_SUCCESS;
}

static int end_all(rg_balancer b) {
  RGI_TRY(rgi_load_board_lock(b));
  b->board->ended = 1;
  rgi_load_board_changed(b);
  rgi_load_board_unlock(b);
  return RG_SUCCESS;
}

/* --- rows ----------------------------------------------------------------------------------- */

static int tell_rows(rg_balancer b, int to) {
  int width = words_for(sizeof(rgi_load_board_row)), count = 0;
  int64_t *words = calloc((size_t)(3 + b->board->processes * width), sizeof *words);
  if (!words)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d rows", b->board->processes);
  RGI_TRY(rgi_load_board_lock(b));
  for (int i = 0; i < b->board->processes; i++)
    if (b->board->row[i].leads)
      memcpy(words + 3 + width * count++, &b->board->row[i], sizeof(rgi_load_board_row));
  words[0] = ROWS;
  words[1] = b->board->count;
  words[2] = count;
  rgi_load_board_unlock(b);
  int error = rgi_wire_send(b, to, RGI_WIRE_INTERNODE, 3 + width * count, words);
  free(words);
  return error;
}

static int take_rows(rg_balancer b, const int64_t words[]) {
  struct rgi_internode *f = b->nodes;
  node_report *n = &f->node[f->asked];
  int width = words_for(sizeof(rgi_load_board_row)), count = (int)words[2];
  if (count > n->room) {
    rgi_load_board_row *more = realloc(n->row, (size_t)count * sizeof *more);
    if (!more)
      return rgi_error(RG_ERR_NOMEM, "no memory for %d rows", count);
    n->row = more;
    n->room = count;
  }
  for (int i = 0; i < count; i++)
    memcpy(&n->row[i], words + 3 + width * i, sizeof(rgi_load_board_row));
  n->count = count;
  n->waiting = (int)words[1];
  b->idle.seen = -1;
  return RG_SUCCESS;
}

int rgi_internode_rows(rg_balancer b, rgi_load_board_row *rows, int *count) {
  const struct rgi_internode *f = b->nodes;
  for (int i = 0; i < f->nodes; i++)
    for (int k = 0; k < f->node[i].count && *count < b->size; k++)
      rows[(*count)++] = f->node[i].row[k];
  return RG_SUCCESS;
}

void rgi_internode_promise(rg_balancer b, int leader, int64_t ranks) {
  struct rgi_internode *f = b->nodes;
  for (int i = 0; i < f->nodes; i++)
    for (int k = 0; k < f->node[i].count; k++)
      if (f->node[i].row[k].load.id == leader)
        f->node[i].row[k].load.coming += ranks;
}

int rgi_internode_idle(rg_balancer b) {
  const struct rgi_internode *f = b->nodes;
  for (int i = 0; i < f->nodes; i++) {
    if (i != f->mine && !f->node[i].row)
      return 0;
    for (int k = 0; k < f->node[i].count; k++)
      if (f->node[i].row[k].load.state & RG_LOAD_ACTIVE)
        return 0;
  }
  return 1;
}

/* --- walkers that go to another node ----------------------------------------------------- */

/* A walker moves at most as often as there are nodes; then it stays, unless no group is here to
 * start it. */
static int may_go(rg_balancer b, const rgi_queue_entry *e, int64_t ranks) {
  int leaders = 0;
  for (int i = 0; i < b->board->processes; i++)
    leaders += b->board->row[i].leads;
  return e->least <= ranks && (e->moved < b->nodes->nodes || leaders == 0);
}

/* Sends a walker that so many processes can start, or NOTHING. */
static int give_walker(rg_balancer b, int to, int64_t ranks) {
  rgi_load_board *board = b->board;
  rgi_queue_entry e = {0};
  int found = 0, error = RG_SUCCESS, header = 2 + words_for(sizeof e);
  RGI_TRY(rgi_load_board_lock(b));
  while (found < board->count && !may_go(b, &rgi_load_board_waiting(board)[found], ranks))
    found++;
  int there = found < board->count;
  if (there)
    error = rgi_load_board_take(b, found, &e);
  if (there && !error)
    error = rgi_store_pack_attach(b, &e);
  int64_t *words = NULL, credit = 0;
  if (there && !error) {
    words = calloc((size_t)(header + words_for(e.bytes)), sizeof *words);
    error = rgi_internode_depart(b, to, &credit);
  }
  rgi_load_board_unlock(b);
  RGI_TRY(error);
  if (!there)
    return send_one(b, to, NOTHING, 0);
  if (!words)
    return rgi_error(RG_ERR_NOMEM, "no memory for %zu bytes of a walker", e.bytes);
  e.moved++;
  words[0] = WALKER;
  words[1] = credit;
  memcpy(words + 2, &e, sizeof e);
  if (e.memory)
    memcpy(words + header, e.memory, e.bytes);
  error = rgi_wire_send(b, to, RGI_WIRE_INTERNODE, header + words_for(e.bytes), words);
  free(words);
  free(e.memory);
  return error;
}

/* A node needs one credit only: it returns the smaller of the two. */
int rgi_internode_arrive(rg_balancer b, int64_t credit) {
  rgi_load_board *board = b->board;
  int64_t other = board->returned ? -1 : board->credit;
  board->open++;
  board->returned = 0;
  board->credit = other >= 0 && other < credit ? other : credit;
  rgi_load_board_changed(b);
  return other < 0 ? RG_SUCCESS : send_one(b, 0, CREDIT, other < credit ? credit : other);
}

int rgi_internode_depart(rg_balancer b, int to, int64_t *credit) {
  *credit = -1;
  if (node_of_rank(b, to) == node_of_rank(b, b->rank))
    return RG_SUCCESS;
  b->board->open--;
  *credit = ++b->board->credit;
  return rgi_internode_check_end(b);
}

static int take_walker(rg_balancer b, int64_t words[]) {
  rgi_queue_entry e;
  memcpy(&e, words + 2, sizeof e);
  e.memory = e.memory ? words + 2 + words_for(sizeof e) : NULL;
  RGI_TRY(rgi_load_board_lock(b));
  int error = rgi_load_board_put(b, &e);
  if (!error)
    error = rgi_internode_arrive(b, words[1]);
  rgi_load_board_unlock(b);
  return error;
}

/* --- questions and answers ------------------------------------------------------------------ */

static int take_answer(rg_balancer b, int64_t words[]) {
  struct rgi_internode *f = b->nodes;
  int error = RG_SUCCESS;
  if (words[0] == ROWS)
    error = take_rows(b, words);
  else if (words[0] == WALKER)
    error = take_walker(b, words);
  else
    f->node[f->asked].waiting = 0;
  f->asked = -1;
  f->when = rgi_clock_now() + f->pause;
  f->pause = 2 * f->pause < LONGEST_PAUSE ? 2 * f->pause : LONGEST_PAUSE;
  return error;
}

static int handle_message(rg_balancer b, int from, int64_t words[]) {
  switch (words[0]) {
  case QUERY:
    return tell_rows(b, from);
  case STEAL:
    return give_walker(b, from, words[1]);
  case CREDIT:
    return add_credit(b, (int)words[1]);
  case END:
    return end_all(b);
  default:
    return take_answer(b, words);
  }
}

int rgi_internode_serve(rg_balancer b) {
  int from, count;
  int64_t *words;
  while (b->nodes->nodes > 1) {
    RGI_TRY(rgi_wire_take(b, RGI_WIRE_INTERNODE, &from, &count, &words));
    if (!words)
      break;
    int error = handle_message(b, from, words);
    free(words);
    RGI_TRY(error);
  }
  return RG_SUCCESS;
}

int rgi_internode_query(rg_balancer b) {
  struct rgi_internode *f = b->nodes;
  if (f->nodes == 1 || f->asked >= 0 || rgi_clock_now() < f->when)
    return RG_SUCCESS;
  for (int i = 0; i < f->nodes; i++)
    if (f->node[i].waiting > 0) {
      f->asked = i;
      return send_one(b, f->node[i].leader, STEAL, b->team.n);
    }
  do
    f->next = (f->next + 1) % f->nodes;
  while (f->next == f->mine);
  f->asked = f->next;
  return send_one(b, f->node[f->next].leader, QUERY, 0);
}
