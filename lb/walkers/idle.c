/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Asynchronous balancing: a group without a walker. Its leader looks for work: it asks the policy
 * with the table of the load board, takes walkers that wait, sends a request to join, or asks
 * another node. What is to be done is a command of two numbers that the leader broadcasts: JOIN
 * another group, START a walker, SPLIT into parts of which each has something else to do, or END.
 *
 * The other members post that broadcast without waiting for it and serve messages until it arrives.
 * When nothing has changed since the last look (b->idle.seen is the load board's version then), the
 * leader does not ask the policy again; it sleeps until a change rings the node's bell.
 *
 * If walkers wait, all groups of all nodes are idle and the policy starts none of them, the longest
 * one fails: otherwise the run would not end. */
#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "progress/progress.h"
#include "progress/request.h"
#include "progress/wait.h"
#include "shm/node.h"
#include "walkers/active.h"
#include "walkers/balancer_state.h"
#include "walkers/idle.h"
#include "walkers/internode.h"
#include "walkers/join.h"
#include "walkers/load_board.h"
#include "walkers/load_table.h"
#include "walkers/outcome.h"
#include "walkers/own_load.h"
#include "walkers/planner.h"
#include "walkers/queue.h"
#include "walkers/store_pack.h"
#include "walkers/store_write.h"
#include "walkers/survival.h"
#include "walkers/walker_team.h"
#include "walkers/wire.h"
#include "walkers/work.h"

/* What a leader without work tells its group. */
enum { IDLE_JOIN = 1, IDLE_START, IDLE_SPLIT, IDLE_END };

/* --- commands: all members ----------------------------------------------------------- */

static int join_group(rg_balancer b) {
  rgi_balancer_idle *idle = &b->idle;
  int size = idle->n;
  RGI_TRY(rg_bcast(b->team.own, &size, 1, MPI_INT, 0));
  int *ranks = rgi_balancer_leads(b) ? idle->ranks : malloc((size_t)size * sizeof *ranks);
  idle->ranks = NULL;
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "no memory for a group of %d processes", size);
  int error = rg_bcast(b->team.own, ranks, size, MPI_INT, 0);
  if (!error)
    error = rgi_own_load_withdraw(b);
  if (!error)
    error = rgi_active_merge(b, size, ranks);
  free(ranks);
  RGI_TRY(error);
  return rgi_active_continue(b, RGI_WORK_GO_ON);
}

static int start_walker(rg_balancer b) {
  int next;
  rgi_queue_entry entry = b->idle.part.entry;
  if (rgi_balancer_leads(b) && b->idle.part.credit >= 0) {
    RGI_TRY(rgi_load_board_lock(b));
    int error = rgi_internode_arrive(b, b->idle.part.credit);
    rgi_load_board_unlock(b);
    RGI_TRY(error);
  }
  b->idle.part = (rgi_balancer_part){.target = -1};
  b->stamp++;
  RGI_TRY(rgi_work_start(b, &entry, &next));
  return rgi_active_continue(b, next);
}

/* Brings the states of the walkers that parts start to the leaders of these parts. */
static int spread_states(rg_balancer b, int count, rgi_balancer_part parts[]) {
  for (int i = 0, first = 0; i < count; first += (int)parts[i].ranks, i++) {
    rgi_balancer_part *p = &parts[i];
    int has = p->starts && p->entry.memory != NULL;
    RGI_TRY(rg_bcast(b->team.own, &has, 1, MPI_INT, 0));
    if (!has)
      continue;
    if (!rgi_balancer_leads(b))
      p->entry.memory = malloc(p->entry.bytes ? p->entry.bytes : 1);
    if (!p->entry.memory)
      return rgi_error(RG_ERR_NOMEM, "no memory for %zu bytes of a walker", p->entry.bytes);
    RGI_TRY(rg_bcast(b->team.own, p->entry.memory, (MPI_Count)p->entry.bytes, MPI_BYTE, 0));
    if (b->team.me != first) {
      free(p->entry.memory);
      p->entry.memory = NULL;
    }
  }
  return RG_SUCCESS;
}

static int become_part(rg_balancer b, int count, const rgi_balancer_part parts[]) {
  int i = 0, first = 0;
  while (i + 1 < count && first + parts[i].ranks <= b->team.me)
    first += (int)parts[i++].ranks;
  rgi_balancer_part mine = parts[i];
  RGI_TRY(rgi_walker_team_part(b, first, (int)mine.ranks));
  double since = b->idle.since;
  RGI_TRY(rgi_active_become_idle(b, 0));
  b->idle.since = since;
  b->idle.part = mine;
  return RG_SUCCESS;
}

/* The leader has the parts in b->parts; the others get them here. */
static int split_group(rg_balancer b, int count) {
  rgi_balancer_part *parts =
      rgi_balancer_leads(b) ? b->parts : malloc((size_t)count * sizeof *parts);
  b->parts = NULL;
  if (!parts)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d parts of a group", count);
  int error = rg_bcast(b->team.own, parts, count * (MPI_Count)sizeof *parts, MPI_BYTE, 0);
  if (!error)
    error = spread_states(b, count, parts);
  if (!error)
    error = become_part(b, count, parts);
  free(parts);
  return error;
}

static int obey_command(rg_balancer b, const int64_t command[2]) {
  double now = rgi_clock_now();
  b->counts.idle += now - b->idle.since;
  b->idle.since = now;
  if (command[0] == IDLE_JOIN)
    return join_group(b);
  if (command[0] == IDLE_START)
    return start_walker(b);
  if (command[0] == IDLE_SPLIT)
    return split_group(b, (int)command[1]);
  b->stage = RGI_BALANCER_DONE;
  return rgi_own_load_withdraw(b);
}

/* --- looking for work: the leader ----------------------------------------------------- */

static int request_join(rg_balancer b) {
  rgi_balancer_part *p = &b->idle.part;
  int64_t *words = malloc((size_t)(b->team.n + 1) * sizeof *words);
  if (!words)
    return rgi_error(RG_ERR_NOMEM, "no memory for a request of %d processes", b->team.n);
  words[0] = p->stamp;
  for (int i = 0; i < b->team.n; i++)
    words[i + 1] = b->team.ranks[i];
  int error = rgi_wire_send(b, (int)p->target, RGI_WIRE_REQUEST, b->team.n + 1, words);
  free(words);
  b->idle.asked = (int)p->target;
  p->target = -1;
  rgi_walker_team_mark(b, RG_SPAN_WAIT);
  return error;
}

/* Takes the answer to a request, if it has come. */
static int take_answer(rg_balancer b, int64_t command[2]) {
  rgi_balancer_idle *idle = &b->idle;
  int from, count;
  int64_t *words;
  RGI_TRY(rgi_wire_take(b, RGI_WIRE_ANSWER, &from, &count, &words));
  if (!words)
    return RG_SUCCESS;
  idle->asked = -1;
  idle->seen = -1;
  if (words[0]) {
    idle->n = count - 1;
    idle->ranks = malloc((size_t)idle->n * sizeof *idle->ranks);
    for (int i = 0; idle->ranks && i < idle->n; i++)
      idle->ranks[i] = (int)words[i + 1];
    command[0] = IDLE_JOIN;
  } else {
    b->counts.refused++;
    rgi_walker_team_mark(b, RG_SPAN_IDLE);
  }
  free(words);
  return RG_SUCCESS;
}

/* With the lock held: what a move of the plan makes a part do. */
static int read_move(rg_balancer b, const rg_move *m, int leader, rgi_balancer_part *part) {
  *part = (rgi_balancer_part){.ranks = m->ranks, .target = -1, .credit = -1};
  if (m->to != RG_MOVE_NO_ROW) {
    rgi_load_board_row *row = rgi_load_board_row_of(b, (int)b->rows[m->to].id);
    part->target = b->rows[m->to].id;
    part->stamp = b->row_stamps[m->to];
    if (row)
      row->load.coming += m->ranks;
    else
      rgi_internode_promise(b, (int)part->target, m->ranks);
  } else if (m->walker != RG_MOVE_NO_WALKER) {
    part->starts = 1;
    part->entry = b->taken[m->walker];
    RGI_TRY(rgi_internode_depart(b, leader, &part->credit));
    return part->credit >= 0 ? rgi_store_pack_attach(b, &part->entry) : RG_SUCCESS;
  }
  return RG_SUCCESS;
}

/* With the lock held: takes the walkers that the plan starts from the load board. From the last to
 * the first, so that the numbers of the others stay valid. */
static int take_walkers(rg_balancer b, const rg_plan *plan, int waiting) {
  for (int w = waiting - 1; w >= 0; w--)
    for (int i = 0; i < plan->count; i++)
      if (plan->move[i].to == RG_MOVE_NO_ROW && plan->move[i].walker == w)
        RGI_TRY(rgi_load_board_take(b, w, &b->taken[w]));
  return RG_SUCCESS;
}

static int carry_out(rg_balancer b, const rg_plan *plan, int waiting, int64_t command[2]) {
  int rest = b->team.n, count = plan->count;
  RGI_TRY(take_walkers(b, plan, waiting));
  rgi_balancer_part *parts = malloc((size_t)(count + 1) * sizeof *parts);
  if (!parts)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d parts of a group", count);
  for (int i = 0; i < count; i++) {
    RGI_TRY(read_move(b, &plan->move[i], b->team.ranks[b->team.n - rest], &parts[i]));
    rest -= (int)parts[i].ranks;
  }
  if (rest > 0)
    parts[count++] = (rgi_balancer_part){.ranks = rest, .target = -1};
  if (count == 1) {
    b->idle.part = parts[0];
    free(parts);
    return RG_SUCCESS;
  }
  b->parts = parts;
  command[0] = IDLE_SPLIT;
  command[1] = count;
  return RG_SUCCESS;
}

/* With the lock held: if all groups are idle and the policy has an answer for none of them, the
 * first walker that waits fails, on this process. */
static int check_stuck(rg_balancer b) {
  const rgi_load_board *board = b->board;
  rgi_queue_entry e;
  if (board->count == 0 || !rgi_internode_idle(b))
    return RG_SUCCESS;
  for (int i = 0; i < board->processes; i++)
    if (board->row[i].leads && board->row[i].seen != board->version)
      return RG_SUCCESS;
  RGI_TRY(rgi_load_board_take(b, 0, &e));
  RGI_TRY(rgi_store_pack_detach(b, &e));
  free(e.memory);
  rg_balance_outcome o = {
      .id = e.id, .error = RG_ERR_ARG, .rank = rgi_survival_first_rank(b, b->rank)};
  rgi_error(RG_ERR_ARG,
            "walker %lld needs %lld processes; all groups are idle and the policy %s starts it on "
            "none of them",
            (long long)e.id, (long long)e.least, b->policy.name ? b->policy.name : "");
  o.text = strdupa(rg_error_detail());
  if (b->store)
    RGI_TRY(rgi_store_write_outcome(b, &e, &o));
  RGI_TRY(rgi_outcome_add(b, &o));
  b->board->open--;
  rgi_load_board_changed(b);
  return rgi_internode_check_end(b);
}

/* With the lock held: the policy's plan, or the end, as a command. */
static int ask_policy(rg_balancer b, int64_t command[2]) {
  rg_load_table t;
  rgi_load_board_row *row = rgi_load_board_row_of(b, b->rank);
  if (b->board->ended) {
    command[0] = IDLE_END;
    return RG_SUCCESS;
  }
  if (b->board->version == b->idle.seen)
    return RG_SUCCESS;
  b->idle.seen = b->board->version;
  row->seen = -1;
  RGI_TRY(rgi_load_table_make(b, &t));
  RGI_TRY(rgi_planner_ask(b, &t));
  if (b->plan.count == 0) {
    row->seen = b->idle.seen;
    return check_stuck(b);
  }
  return carry_out(b, &b->plan, t.waiting_count, command);
}

/* Finds what the group is to do now; command[0] 0: nothing. */
static int look_for_work(rg_balancer b, int64_t command[2]) {
  rgi_balancer_idle *idle = &b->idle;
  command[0] = command[1] = 0;
  RGI_TRY(rgi_join_serve(b));
  if (idle->asked >= 0)
    return take_answer(b, command);
  if (idle->part.target < 0 && !idle->part.starts) {
    RGI_TRY(rgi_load_board_lock(b));
    int error = ask_policy(b, command);
    rgi_load_board_unlock(b);
    RGI_TRY(error);
  }
  if (command[0])
    return RG_SUCCESS;
  if (idle->part.starts)
    command[0] = IDLE_START;
  else if (idle->part.target >= 0)
    return request_join(b);
  else
    return rgi_internode_query(b);
  return RG_SUCCESS;
}

/* --- waiting -------------------------------------------------------------------------------- */

/* One attempt. *done: there was something to do, and it has been done. */
static int try_idle(rg_balancer b, int *done) {
  rgi_balancer_idle *idle = &b->idle;
  *done = 0;
  if (rgi_balancer_leads(b)) {
    RGI_TRY(look_for_work(b, idle->command));
    if (!idle->command[0])
      return RG_SUCCESS;
    if (b->team.n > 1) {
      RGI_TRY(rg_ibcast(b->team.own, idle->command, 2, MPI_INT64_T, 0, &idle->request));
      RGI_TRY(rg_wait(&idle->request, NULL));
    }
  } else {
    RGI_TRY(rgi_join_serve(b));
    if (!idle->pending)
      RGI_TRY(rg_ibcast(b->team.own, idle->command, 2, MPI_INT64_T, 0, &idle->request));
    idle->pending = 1;
    int came;
    RGI_TRY(rg_test(&idle->request, &came, NULL));
    if (!came)
      return RG_SUCCESS;
    idle->pending = 0;
  }
  *done = 1;
  int64_t command[2] = {idle->command[0], idle->command[1]};
  return obey_command(b, command);
}

int rgi_idle_step(rg_balancer b, int wait, int *what) {
  rgi_wait w;
  rgi_load_board_row *row = rgi_load_board_row_of(b, b->rank);
  int done, error;
  int64_t units = b->board->units;
  double called = 0;
  rgi_wait_start(&w, "waiting for work", -1);
  rgi_survival_scope(b, &w);
  atomic_store(&row->waits, rgi_balancer_leads(b));
  for (;;) {
    uint32_t bell = atomic_load_explicit(&rgi_node_bell()->value, memory_order_acquire);
    error = rgi_requests_progress_all();
    if (!error)
      error = try_idle(b, &done);
    if (error || done || !wait)
      break;
    error = rgi_wait_bell(&w, rgi_node_bell(), bell, !rgi_progress_busy());
    if (error == RG_ERR_TIMEOUT && b->board->units != units) {
      units = b->board->units;
      rgi_wait_start(&w, "waiting for work", -1);
      rgi_survival_scope(b, &w);
      error = RG_SUCCESS;
    }
    if (error)
      break;
    if (b->options.waiting && rgi_clock_now() - called > 0.05) {
      called = rgi_clock_now();
      b->options.waiting(b->options.context);
    }
  }
  atomic_store(&row->waits, 0);
  *what = done ? RG_BALANCE_MOVED : RG_BALANCE_IDLE;
  return error;
}
