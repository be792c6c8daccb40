/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Synchronous balancing. After every i units of each group all processes exchange what
 * their groups have to do; each of them works out the same plan, and the new groups from
 * it, so that nothing more is said. The members of a group are in the order of ranks,
 * but for the leader, which stays the first. */
#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "message/message.h"
#include "progress/progress.h"
#include "progress/request.h"
#include "progress/wait.h"
#include "shm/node.h"
#include "walkers/balancer.h"
#include "walkers/survive.h"
#include "walkers/vault.h"

typedef rgi_told told;

/* --- a round ----------------------------------------------------------------------------- */

static int decide(rg_balancer b, rgi_decision *d) {
  d->kind = b->work.left == 0 ? RGI_FINISH : RGI_GO_ON;
  return RG_SUCCESS;
}

static void become_idle(rg_balancer b) {
  b->idle.since = rgi_clock_now();
  rgi_mark(b, RG_SPAN_IDLE);
}

static int after(rg_balancer b, int next) {
  if (next == RGI_FINISH)
    RGI_TRY(rgi_work_finish(b));
  if (next == RGI_FINISH || !b->work.working)
    become_idle(b);
  return RG_SUCCESS;
}

static int unit(rg_balancer b, int *what) {
  rgi_decision next;
  b->units++;
  RGI_TRY(rgi_work_unit(b, decide, &next));
  *what = next.kind == RGI_GO_ON ? RG_BALANCE_WORKED : RG_BALANCE_MOVED;
  return after(b, (int)next.kind);
}

/* --- the exchange -------------------------------------------------------------------------- */

static void tell(rg_balancer b, told *t) {
  const rgi_work *work = &b->work;
  *t = (told){.leader = b->crew.ranks[0],
              .lowest = b->crew.lowest,
              .born = work->born.count,
              .arrived = rgi_clock_now()};
  t->load = (rg_load){.id = b->crew.ranks[0], .ranks = b->crew.n, .state = RG_LOAD_JOINABLE};
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

/* Waits for all, if that is wanted. */
static int meet(rg_balancer b, int wait, int *done) {
  rgi_wait w;
  double said = 0;
  *done = 0;
  rgi_wait_start(&w, "the end of a round", -1);
  rgi_survive_scope(b, &w);
  for (;;) {
    uint32_t bell = atomic_load_explicit(&rgi_node_bell()->value, memory_order_acquire);
    RGI_TRY(rgi_keeper_serve(b));
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

/* The new walkers of all processes, in the order of these. */
static int share_born(rg_balancer b) {
  for (int r = 0; r < b->size; r++)
    for (int i = 0; i < b->told[r].born; i++) {
      rgi_entry e = {0};
      if (r == b->rank)
        e = b->work.born.at[i];
      if (r == b->rank && rgi_vault_many(b))
        RGI_TRY(rgi_entry_wrap(b, &e));
      void *memory = e.memory;
      RGI_TRY(rg_bcast(b->all, &e, sizeof e, MPI_BYTE, r));
      if (e.memory) {
        e.memory = r == b->rank ? memory : malloc(e.bytes ? e.bytes : 1);
        if (!e.memory)
          return rgi_error(RG_ERR_NOMEM, "no memory for the %zu bytes of a walker", e.bytes);
        RGI_TRY(rg_bcast(b->all, e.memory, (MPI_Count)e.bytes, MPI_BYTE, r));
      }
      RGI_TRY(rgi_entries_insert(&b->list, &e));
    }
  b->work.born.count = 0;
  return RG_SUCCESS;
}

/* How long this group has waited for the slowest: both by one clock, if there is one. */
static void note_wait(rg_balancer b) {
  double last = b->told[b->rank].arrived, own = b->told[b->crew.ranks[0]].arrived;
  for (int r = 0; r < b->size && rgi_node.count == 1; r++)
    last = b->told[r].arrived > last ? b->told[r].arrived : last;
  if (rgi_node.count > 1) {
    last = rgi_clock_now();
    own = b->told[b->rank].arrived;
  }
  b->work.walker.waited += last - own;
}

/* --- the new groups -------------------------------------------------------------------------- */

static int by_lowest(const void *a, const void *b) {
  const told *x = *(const told *const *)a, *y = *(const told *const *)b;
  return (x->lowest > y->lowest) - (x->lowest < y->lowest);
}

static int make_table(rg_balancer b, rg_load_table *t) {
  const told **order = malloc((size_t)b->size * sizeof *order);
  int count = 0, shown = b->list.count < RGI_SHOWN ? b->list.count : RGI_SHOWN;
  if (!order)
    return rgi_error(RG_ERR_NOMEM, "no memory for a table of %d rows", b->size);
  for (int r = 0; r < b->size; r++)
    if (b->told[r].leader == r)
      order[count++] = &b->told[r];
  qsort(order, (size_t)count, sizeof *order, by_lowest);
  for (int i = 0; i < count; i++)
    b->rows[i] = order[i]->load;
  free(order);
  b->row_count = count;
  rgi_entries_show(b->list.at, shown, b->waiting);
  *t = (rg_load_table){.load = b->rows,
                       .count = count,
                       .self = RG_ALL_ROWS,
                       .waiting = b->waiting,
                       .waiting_count = shown,
                       .merge = b->merge};
  return RG_SUCCESS;
}

/* The ranks of a group, the leader first. */
static int list_members(const struct rg_balancer_s *b, int leader, int ranks[]) {
  int n = 1;
  ranks[0] = leader;
  for (int r = 0; r < b->size; r++)
    if (b->leader_of[r] == leader && r != leader)
      ranks[n++] = r;
  return n;
}

/* The processes of one row that move: from the front of an idle one, from the end of one
 * at work. starts[r]: the walker that the group led by r starts, or -1. */
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
    int to = m->to == RG_NO_ROW ? ranks[at] : (int)b->rows[m->to].id;
    if (m->to == RG_NO_ROW)
      starts[ranks[at]] = m->walker;
    for (int64_t k = 0; k < m->ranks; k++)
      b->leader_of[ranks[at++]] = to;
  }
  for (int k = at; idle && k < n; k++)
    b->leader_of[ranks[k]] = ranks[at];
}

static int lose_walkers(rg_balancer b, int mine, rgi_entry *entry) {
  for (int w = RGI_SHOWN < b->list.count ? RGI_SHOWN - 1 : b->list.count - 1; w >= 0; w--)
    for (int i = 0; i < b->plan.count; i++)
      if (b->plan.move[i].to == RG_NO_ROW && b->plan.move[i].walker == w) {
        rgi_entry e = rgi_entries_take(&b->list, w);
        if (w == mine && rgi_leads(b))
          *entry = e;
        else
          free(e.memory);
      }
  return RG_SUCCESS;
}

static int same_members(const rgi_crew *c, int n, const int ranks[]) {
  return c->n == n && memcmp(c->ranks, ranks, (size_t)n * sizeof *ranks) == 0;
}

/* How many of the present group keep its walker; they are the first ones. */
static int stayers(const struct rg_balancer_s *b) {
  int stay = 0;
  for (int i = 0; i < b->crew.n; i++)
    stay += b->leader_of[b->crew.ranks[i]] == b->crew.ranks[0];
  return stay;
}

/* This process becomes a member of its new group. */
static int become(rg_balancer b, int n, const int ranks[], int walker) {
  int leader = ranks[0], next, changed = !same_members(&b->crew, n, ranks);
  int active = b->told[leader].leader == leader && (b->told[leader].load.state & RG_LOAD_ACTIVE);
  rgi_entry entry = {0};
  double began = rgi_clock_now();
  if (changed) {
    if (b->work.working && stayers(b) < b->crew.n)
      RGI_TRY(rgi_work_part(b, stayers(b)));
    if (b->work.working && leader != b->crew.ranks[0])
      rgi_work_leave(b);
    rgi_mark(b, RG_SPAN_REGROUP);
    RGI_TRY(rgi_crew_form(b, n, ranks));
    rgi_mark(b, RG_SPAN_REGROUP);
  }
  RGI_TRY(lose_walkers(b, walker, &entry));
  if (changed && active)
    RGI_TRY(rgi_work_hand_over(b));
  if (walker >= 0) {
    RGI_TRY(rgi_work_start(b, &entry, &next));
    RGI_TRY(after(b, next));
  }
  if (!changed)
    return RG_SUCCESS;
  b->counts.forming += rgi_clock_now() - began;
  if (!b->work.working)
    become_idle(b);
  return RG_SUCCESS;
}

static int regroup(rg_balancer b) {
  size_t size = (size_t)b->size;
  int *old = malloc(3 * size * sizeof *old);
  if (!old)
    return rgi_error(RG_ERR_NOMEM, "no memory for the groups of %d processes", b->size);
  int *ranks = old + size, *starts = ranks + size;
  for (int r = 0; r < b->size; r++) {
    old[r] = b->leader_of[r] = b->told[r].leader;
    starts[r] = -1;
  }
  for (int row = 0; row < b->row_count; row++)
    move_row(b, row, old, ranks, starts);
  int n = list_members(b, b->leader_of[b->rank], ranks);
  int error = become(b, n, ranks, starts[ranks[0]]);
  free(old);
  return error;
}

/* Nobody works, walkers wait, and the policy starts none. */
static int fail_waiting(rg_balancer b) {
  rgi_entry e = rgi_entries_take(&b->list, 0);
  if (b->rank == 0)
    RGI_TRY(rgi_entry_unwrap(b, &e));
  free(e.memory);
  if (b->rank != 0)
    return RG_SUCCESS;
  rgi_error(RG_ERR_ARG,
            "walker %lld needs %lld processes; all groups are idle and the policy %s starts it on "
            "none of them",
            (long long)e.id, (long long)e.least, b->policy.name ? b->policy.name : "");
  rg_outcome o = {.id = e.id,
                  .error = RG_ERR_ARG,
                  .rank = rgi_survive_first(b, 0),
                  .text = strdupa(rg_error_detail())};
  if (b->vault)
    RGI_TRY(rgi_vault_end(b, &e, &o));
  return rgi_outcome_add(b, &o);
}

static int anybody_works(const struct rg_balancer_s *b) {
  for (int i = 0; i < b->row_count; i++)
    if (b->rows[i].state & RG_LOAD_ACTIVE)
      return 1;
  return 0;
}

/* What follows from what all have told. */
static int conclude(rg_balancer b) {
  rg_load_table t;
  int born = 0;
  note_wait(b);
  for (int r = 0; r < b->size; r++)
    born |= b->told[r].born;
  if (born)
    RGI_TRY(share_born(b));
  for (;;) {
    RGI_TRY(make_table(b, &t));
    int working = anybody_works(b);
    if (!working && b->list.count == 0) {
      b->stage = RGI_DONE;
      return RG_SUCCESS;
    }
    RGI_TRY(rgi_ask_policy(b, &t));
    if (working || b->plan.count > 0)
      return b->plan.count ? regroup(b) : RG_SUCCESS;
    RGI_TRY(fail_waiting(b));
  }
}

static int exchange(rg_balancer b, int wait, int *what) {
  int done;
  told *mine = &b->tells;
  if (!b->round) {
    tell(b, mine);
    rgi_mark(b, b->work.working ? RG_SPAN_WAIT : RG_SPAN_IDLE);
    RGI_TRY(rg_iallgather(b->all, mine, sizeof *mine, MPI_BYTE, b->told, sizeof *mine, MPI_BYTE,
                          &b->round));
  }
  RGI_TRY(meet(b, wait, &done));
  *what = RG_BALANCE_IDLE;
  if (!done)
    return RG_SUCCESS;
  if (!b->work.working) {
    b->counts.idle += rgi_clock_now() - b->idle.since;
    b->idle.since = rgi_clock_now();
  }
  b->units = 0;
  RGI_TRY(conclude(b));
  *what = b->stage == RGI_DONE ? RG_BALANCE_DONE : RG_BALANCE_MOVED;
  return RG_SUCCESS;
}

int rgi_sync_step(rg_balancer b, int wait, int *what) {
  RGI_TRY(rgi_keeper_serve(b));
  if (b->work.working && b->units < b->policy.interval)
    return unit(b, what);
  return exchange(b, wait, what);
}

int rgi_sync_begin(rg_balancer b) {
  int group = b->rank / b->group_size, groups = (b->size - 1) / b->group_size + 1, next;
  int has = group < b->list.count, started = groups < b->list.count ? groups : b->list.count;
  rgi_entry mine = {0};
  if (!b->told)
    b->told = calloc((size_t)b->size, sizeof *b->told);
  if (!b->told)
    return rgi_error(RG_ERR_NOMEM, "rg_balance_begin: no memory for %d processes", b->size);
  RGI_TRY(rgi_crew_first(b));
  for (int i = 0; i < started; i++) {
    rgi_entry e = b->list.at[i];
    if (i == group && rgi_leads(b))
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
  return after(b, next);
}
