/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Synchronous balancing. After every i units of each group all processes exchange what their groups
 * have to do. From the same reports each process works out the same plan and the same new groups,
 * so that nothing more is sent. The members of a group are in the order of ranks, except that the
 * leader comes first. */
#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "progress/progress.h"
#include "progress/wait.h"
#include "shm/node.h"
#include "walkers/balancer_state.h"
#include "walkers/buddy.h"
#include "walkers/outcome.h"
#include "walkers/planner.h"
#include "walkers/queue.h"
#include "walkers/round.h"
#include "walkers/store.h"
#include "walkers/store_pack.h"
#include "walkers/store_write.h"
#include "walkers/survival.h"
#include "walkers/walker_team.h"
#include "walkers/work.h"

/* --- units ----------------------------------------------------------------------------- */

static int decide_next(rg_balancer b, rgi_work_decision *d) {
  d->kind = b->work.left == 0 ? RGI_WORK_FINISH : RGI_WORK_GO_ON;
  return RG_SUCCESS;
}

static void become_idle(rg_balancer b) {
  b->idle.since = rgi_clock_now();
  rgi_walker_team_mark(b, RG_SPAN_IDLE);
}

static int continue_walker(rg_balancer b, int next) {
  if (next == RGI_WORK_FINISH)
    RGI_TRY(rgi_work_finish(b));
  if (next == RGI_WORK_FINISH || !b->work.working)
    become_idle(b);
  return RG_SUCCESS;
}

static int do_unit(rg_balancer b, int *what) {
  rgi_work_decision next;
  b->units++;
  RGI_TRY(rgi_work_unit(b, decide_next, &next));
  *what = next.kind == RGI_WORK_GO_ON ? RG_BALANCE_WORKED : RG_BALANCE_MOVED;
  return continue_walker(b, (int)next.kind);
}

/* --- the exchange -------------------------------------------------------------------------- */

static void fill_report(rg_balancer b, rgi_balancer_report *t) {
  const rgi_balancer_work *work = &b->work;
  *t = (rgi_balancer_report){.leader = b->team.ranks[0],
                             .lowest = b->team.lowest,
                             .born = work->born.count,
                             .arrived = rgi_clock_now()};
  t->load = (rg_load){.id = b->team.ranks[0], .ranks = b->team.n, .state = RG_LOAD_JOINABLE};
  if (!work->working)
    return;
  t->load.state = RG_LOAD_ACTIVE | (work->may & (RG_LOAD_JOINABLE | RG_LOAD_LEAVABLE));
  t->load.least = work->entry.least;
  t->load.most = work->entry.most;
  t->load.walkers = 1;
  t->load.left = work->left;
  t->load.done = (double)work->walker.done;
  t->load.unit = work->unit;
  t->load.pace = work->pace;
}

/* Tests whether the reports of all processes are here; with `wait`, waits for them. */
static int await_round(rg_balancer b, int wait, int *done) {
  rgi_wait w;
  double said = 0;
  *done = 0;
  rgi_wait_start(&w, "the end of a round", -1);
  rgi_survival_scope(b, &w);
  for (;;) {
    uint32_t bell = atomic_load_explicit(&rgi_node_bell()->value, memory_order_acquire);
    RGI_TRY(rgi_buddy_serve(b));
    RGI_TRY(rg_test(&b->round, done, NULL));
    if (*done || !wait)
      return RG_SUCCESS;
    RGI_TRY(rgi_wait_bell(&w, rgi_node_bell(), bell, !rgi_progress_busy()));
    if (b->options.waiting && rgi_clock_now() - said > 0.05) {
      said = rgi_clock_now();
      b->options.waiting(b->options.context);
    }
  }
}

/* Puts the walkers that units have made on all lists, in the order of the processes. */
static int share_born(rg_balancer b) {
  for (int r = 0; r < b->size; r++)
    for (int i = 0; i < b->reports[r].born; i++) {
      rgi_queue_entry e = {0};
      if (r == b->rank)
        e = b->work.born.at[i];
      if (r == b->rank && rgi_store_spans_nodes(b))
        RGI_TRY(rgi_store_pack_attach(b, &e));
      void *memory = e.memory;
      RGI_TRY(rg_bcast(b->all, &e, sizeof e, MPI_BYTE, r));
      if (e.memory) {
        e.memory = r == b->rank ? memory : malloc(e.bytes ? e.bytes : 1);
        if (!e.memory)
          return rgi_error(RG_ERR_NOMEM, "no memory for the %zu bytes of a walker", e.bytes);
        RGI_TRY(rg_bcast(b->all, e.memory, (MPI_Count)e.bytes, MPI_BYTE, r));
      }
      RGI_TRY(rgi_queue_insert(&b->list, &e));
    }
  b->work.born.count = 0;
  return RG_SUCCESS;
}

/* Adds the time that this group has waited for the slowest. Clocks of two nodes are not compared.
 */
static void note_wait(rg_balancer b) {
  double last = b->reports[b->rank].arrived, own = b->reports[b->team.ranks[0]].arrived;
  for (int r = 0; r < b->size && rgi_node.count == 1; r++)
    last = b->reports[r].arrived > last ? b->reports[r].arrived : last;
  if (rgi_node.count > 1) {
    last = rgi_clock_now();
    own = b->reports[b->rank].arrived;
  }
  b->work.walker.waited += last - own;
}

/* --- the new groups -------------------------------------------------------------------------- */

static int by_lowest(const void *a, const void *b) {
  const rgi_balancer_report *x = *(const rgi_balancer_report *const *)a,
                            *y = *(const rgi_balancer_report *const *)b;
  return (x->lowest > y->lowest) - (x->lowest < y->lowest);
}

static int make_table(rg_balancer b, rg_load_table *t) {
  const rgi_balancer_report **order = malloc((size_t)b->size * sizeof *order);
  int count = 0, shown = b->list.count < RGI_QUEUE_SHOWN ? b->list.count : RGI_QUEUE_SHOWN;
  if (!order)
    return rgi_error(RG_ERR_NOMEM, "no memory for a table of %d rows", b->size);
  for (int r = 0; r < b->size; r++)
    if (b->reports[r].leader == r)
      order[count++] = &b->reports[r];
  qsort(order, (size_t)count, sizeof *order, by_lowest);
  for (int i = 0; i < count; i++)
    b->rows[i] = order[i]->load;
  free(order);
  b->row_count = count;
  rgi_queue_show(b->list.at, shown, b->waiting);
  *t = (rg_load_table){.size = sizeof *t,
                       .load = b->rows,
                       .count = count,
                       .self = RG_LOAD_ALL_ROWS,
                       .waiting = b->waiting,
                       .waiting_count = shown,
                       .merge = b->merge};
  return RG_SUCCESS;
}

/* Lists the ranks of a group, the leader first. */
static int list_members(const struct rg_balancer_s *b, int leader, int ranks[]) {
  int n = 1;
  ranks[0] = leader;
  for (int r = 0; r < b->size; r++)
    if (b->leader_of[r] == leader && r != leader)
      ranks[n++] = r;
  return n;
}

/* Moves the processes that the plan takes from one row: from the front of an idle group, from the
 * end of one at work. starts[r]: the walker that the group led by r starts, or -1. */
static void move_row(rg_balancer b, int row, const int old[], int ranks[], int starts[]) {
  int64_t given = 0;
  for (int i = 0; i < b->plan.count; i++)
    given += b->plan.move[i].from == row ? b->plan.move[i].ranks : 0;
  if (given == 0)
    return;
  int leader = (int)b->rows[row].id, n = 1;
  ranks[0] = leader;
  for (int r = 0; r < b->size; r++)
    if (old[r] == leader && r != leader)
      ranks[n++] = r;
  int idle = !(b->rows[row].state & RG_LOAD_ACTIVE), at = idle ? 0 : n - (int)given;
  for (int i = 0; i < b->plan.count; i++) {
    const rg_move *m = &b->plan.move[i];
    if (m->from != row)
      continue;
    int to = m->to == RG_MOVE_NO_ROW ? ranks[at] : (int)b->rows[m->to].id;
    if (m->to == RG_MOVE_NO_ROW)
      starts[ranks[at]] = m->walker;
    for (int64_t k = 0; k < m->ranks; k++)
      b->leader_of[ranks[at++]] = to;
  }
  for (int k = at; idle && k < n; k++)
    b->leader_of[ranks[k]] = ranks[at];
}

static int lose_walkers(rg_balancer b, int mine, rgi_queue_entry *entry) {
  for (int w = RGI_QUEUE_SHOWN < b->list.count ? RGI_QUEUE_SHOWN - 1 : b->list.count - 1; w >= 0;
       w--)
    for (int i = 0; i < b->plan.count; i++)
      if (b->plan.move[i].to == RG_MOVE_NO_ROW && b->plan.move[i].walker == w) {
        rgi_queue_entry e = rgi_queue_take(&b->list, w);
        if (w == mine && rgi_balancer_leads(b))
          *entry = e;
        else
          free(e.memory);
      }
  return RG_SUCCESS;
}

static int same_members(const rgi_balancer_team *c, int n, const int ranks[]) {
  return c->n == n && memcmp(c->ranks, ranks, (size_t)n * sizeof *ranks) == 0;
}

/* How many members of the present group keep its walker; they are the first ones. */
static int count_stayers(const struct rg_balancer_s *b) {
  int stay = 0;
  for (int i = 0; i < b->team.n; i++)
    stay += b->leader_of[b->team.ranks[i]] == b->team.ranks[0];
  return stay;
}

/* This process becomes a member of its new group. */
static int become_member(rg_balancer b, int n, const int ranks[], int walker) {
  int leader = ranks[0], next, changed = !same_members(&b->team, n, ranks);
  int active =
      b->reports[leader].leader == leader && (b->reports[leader].load.state & RG_LOAD_ACTIVE);
  rgi_queue_entry entry = {0};
  double began = rgi_clock_now();
  if (changed) {
    if (b->work.working && count_stayers(b) < b->team.n)
      RGI_TRY(rgi_work_part(b, count_stayers(b)));
    if (b->work.working && leader != b->team.ranks[0])
      rgi_work_leave(b);
    rgi_walker_team_mark(b, RG_SPAN_REGROUP);
    RGI_TRY(rgi_walker_team_form(b, n, ranks));
    rgi_walker_team_mark(b, RG_SPAN_REGROUP);
  }
  RGI_TRY(lose_walkers(b, walker, &entry));
  if (changed && active)
    RGI_TRY(rgi_work_hand_over(b));
  if (walker >= 0) {
    RGI_TRY(rgi_work_start(b, &entry, &next));
    RGI_TRY(continue_walker(b, next));
  }
  if (!changed)
    return RG_SUCCESS;
  b->counts.forming += rgi_clock_now() - began;
  if (!b->work.working)
    become_idle(b);
  return RG_SUCCESS;
}

static int regroup_all(rg_balancer b) {
  size_t size = (size_t)b->size;
  int *old = malloc(3 * size * sizeof *old);
  if (!old)
    return rgi_error(RG_ERR_NOMEM, "no memory for the groups of %d processes", b->size);
  int *ranks = old + size, *starts = ranks + size;
  for (int r = 0; r < b->size; r++) {
    old[r] = b->leader_of[r] = b->reports[r].leader;
    starts[r] = -1;
  }
  for (int row = 0; row < b->row_count; row++)
    move_row(b, row, old, ranks, starts);
  int n = list_members(b, b->leader_of[b->rank], ranks);
  int error = become_member(b, n, ranks, starts[ranks[0]]);
  free(old);
  return error;
}

/* All groups are idle, and the policy starts none of the walkers that wait: the first one fails. */
static int fail_waiting(rg_balancer b) {
  rgi_queue_entry e = rgi_queue_take(&b->list, 0);
  if (b->rank == 0)
    RGI_TRY(rgi_store_pack_detach(b, &e));
  free(e.memory);
  if (b->rank != 0)
    return RG_SUCCESS;
  rgi_error(RG_ERR_ARG,
            "walker %lld needs %lld processes; all groups are idle and the policy %s starts it on "
            "none of them",
            (long long)e.id, (long long)e.least, b->policy.name ? b->policy.name : "");
  rg_balance_outcome o = {.id = e.id,
                          .error = RG_ERR_ARG,
                          .rank = rgi_survival_first_rank(b, 0),
                          .text = strdupa(rg_error_detail())};
  if (b->store)
    RGI_TRY(rgi_store_write_outcome(b, &e, &o));
  return rgi_outcome_add(b, &o);
}

static int any_group_works(const struct rg_balancer_s *b) {
  for (int i = 0; i < b->row_count; i++)
    if (b->rows[i].state & RG_LOAD_ACTIVE)
      return 1;
  return 0;
}

/* Works out and carries out what follows from the reports of all processes. */
static int conclude_round(rg_balancer b) {
  rg_load_table t;
  int born = 0;
  note_wait(b);
  for (int r = 0; r < b->size; r++)
    born |= b->reports[r].born;
  if (born)
    RGI_TRY(share_born(b));
  for (;;) {
    RGI_TRY(make_table(b, &t));
    int working = any_group_works(b);
    if (!working && b->list.count == 0) {
      b->stage = RGI_BALANCER_DONE;
      return RG_SUCCESS;
    }
    RGI_TRY(rgi_planner_ask(b, &t));
    if (working || b->plan.count > 0)
      return b->plan.count ? regroup_all(b) : RG_SUCCESS;
    RGI_TRY(fail_waiting(b));
  }
}

static int exchange_reports(rg_balancer b, int wait, int *what) {
  int done;
  rgi_balancer_report *mine = &b->own_report;
  if (!b->round) {
    fill_report(b, mine);
    rgi_walker_team_mark(b, b->work.working ? RG_SPAN_WAIT : RG_SPAN_IDLE);
    RGI_TRY(rg_iallgather(b->all, mine, sizeof *mine, MPI_BYTE, b->reports, sizeof *mine, MPI_BYTE,
                          &b->round));
  }
  RGI_TRY(await_round(b, wait, &done));
  *what = RG_BALANCE_IDLE;
  if (!done)
    return RG_SUCCESS;
  if (!b->work.working) {
    b->counts.idle += rgi_clock_now() - b->idle.since;
    b->idle.since = rgi_clock_now();
  }
  b->units = 0;
  RGI_TRY(conclude_round(b));
  *what = b->stage == RGI_BALANCER_DONE ? RG_BALANCE_DONE : RG_BALANCE_MOVED;
  return RG_SUCCESS;
}

int rgi_round_step(rg_balancer b, int wait, int *what) {
  RGI_TRY(rgi_buddy_serve(b));
  if (b->work.working && b->units < b->policy.interval)
    return do_unit(b, what);
  return exchange_reports(b, wait, what);
}

int rgi_round_begin(rg_balancer b) {
  int group = b->rank / b->group_size, groups = (b->size - 1) / b->group_size + 1, next;
  int has = group < b->list.count, started = groups < b->list.count ? groups : b->list.count;
  rgi_queue_entry mine = {0};
  if (!b->reports)
    b->reports = calloc((size_t)b->size, sizeof *b->reports);
  if (!b->reports)
    return rgi_error(RG_ERR_NOMEM, "rg_balance_begin: no memory for %d processes", b->size);
  RGI_TRY(rgi_walker_team_first(b));
  for (int i = 0; i < started; i++) {
    rgi_queue_entry e = b->list.at[i];
    if (i == group && rgi_balancer_leads(b))
      mine = e;
    else
      free(e.memory);
  }
  b->list.count -= started;
  if (b->list.count > 0)
    memmove(b->list.at, b->list.at + started, (size_t)b->list.count * sizeof *b->list.at);
  if (!has) {
    become_idle(b);
    return RG_SUCCESS;
  }
  RGI_TRY(rgi_work_start(b, &mine, &next));
  return continue_walker(b, next);
}
