/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The plan divides the idle group: its first processes make the first move, the next ones the
 * second. Walkers that it starts are taken off the load board at once, so that no other group
 * starts them.
 *
 * A walker may wait for more processes than any idle group has. Then a group for which the policy
 * has no plan asks another one of its node, which has looked and found nothing, whether it may join
 * it. No circle can arise: a group that asks refuses requests, and under the load board's lock no
 * group asks one that asks. If walkers wait, all groups of all nodes are idle and the policy starts
 * none of them, the longest one fails: otherwise the run would not end. */
#include <stdlib.h>

#include "base/error.h"
#include "base/spare.h"
#include "walkers/async/idle.h"
#include "walkers/async/meeting_step.h"
#include "walkers/board/node_loads.h"
#include "walkers/state/balancer_state.h"
#include "walkers/store/record_index.h"

/* What a move of the plan makes a part do. */
static int read_move(rg_balancer balancer, const rg_move *move, int leader,
                     const rgi_queue_entry taken[], rgi_search_part *part) {
  *part = (rgi_search_part){.ranks = move->ranks, .target = -1, .credit = -1};
  if (move->to != RG_MOVE_NO_ROW) {
    rgi_board_row *row =
        rgi_board_row_of(&balancer->async.board, (int)balancer->planner.rows[move->to].id);
    part->target = balancer->planner.rows[move->to].id;
    part->stamp = balancer->planner.stamps[move->to];
    if (row)
      row->load.coming += move->ranks;
    else
      rgi_node_loads_promise(&balancer->async.nodes.loads, (int)part->target, move->ranks);
  } else if (move->walker != RG_MOVE_NO_WALKER) {
    part->starts = 1;
    part->entry = taken[move->walker];
    RGI_TRY(rgi_internode_depart(&balancer->async.nodes, leader, &part->credit));
    return part->credit >= 0 ? rgi_record_pack_attach(&balancer->survival.store, &part->entry)
                             : RG_SUCCESS;
  }
  return RG_SUCCESS;
}

/* Takes the walkers that the plan starts from the load board. From the last to
 * the first, so that the numbers of the others stay valid. */
static int take_walkers(rg_balancer balancer, int waiting, rgi_queue_entry taken[]) {
  for (int w = waiting - 1; w >= 0; w--)
    if (rgi_planner_starts(&balancer->planner, w))
      RGI_TRY(rgi_board_take(&balancer->async.board, w, &taken[w]));
  return RG_SUCCESS;
}

static int carry_out(rg_balancer balancer, int waiting, int64_t command[2]) {
  const rg_plan *plan = &balancer->planner.plan;
  int rest = balancer->team.n, count = (int)plan->count;
  rgi_queue_entry taken[RGI_QUEUE_SHOWN];
  RGI_TRY(take_walkers(balancer, waiting, taken));
  rgi_search_part *parts = rgi_spare_alloc((size_t)(count + 1) * sizeof *parts);
  if (!parts)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d parts of a group", count);
  for (int i = 0; i < count; i++) {
    RGI_TRY(read_move(balancer, &plan->move[i], balancer->team.ranks[balancer->team.n - rest],
                      taken, &parts[i]));
    rest -= (int)parts[i].ranks;
  }
  if (rest > 0)
    parts[count++] = (rgi_search_part){.ranks = rest, .target = -1};
  if (count == 1) {
    balancer->async.search.part = parts[0];
    rgi_spare_free(parts);
    return RG_SUCCESS;
  }
  balancer->async.search.parts = parts;
  command[0] = RGI_IDLE_COMMAND_SPLIT;
  command[1] = count;
  return RG_SUCCESS;
}

/* If all groups are idle and the policy has an answer for none of them, the first walker that waits
 * fails, on this process. The rows must have all processes: the group of a process that is on its
 * way into another one has none. */
static int check_stuck(rg_balancer balancer) {
  rgi_board_shared *board = balancer->async.board.shared;
  rgi_queue_entry entry;
  int64_t ranks = 0;
  if (board->count == 0 || !rgi_node_loads_idle(&balancer->async.nodes.loads))
    return RG_SUCCESS;
  for (int i = 0; i < board->processes; i++)
    if (board->row[i].leads && board->row[i].seen != board->version)
      return RG_SUCCESS;
  for (int i = 0; i < balancer->planner.row_count; i++)
    ranks += balancer->planner.rows[i].ranks;
  if (ranks != balancer->members.size)
    return RG_SUCCESS;
  RGI_TRY(rgi_board_take(&balancer->async.board, 0, &entry));
  RGI_TRY(rgi_work_fail_waiting(&balancer->work, &entry, rgi_planner_name(&balancer->planner)));
  board->open--;
  rgi_board_changed(&balancer->async.board);
  return rgi_internode_check_end(&balancer->async.nodes);
}

/* Whether a walker waits that needs more processes than the group has. */
static int lacks_processes(const struct rg_balancer_s *balancer) {
  const rgi_board_shared *board = balancer->async.board.shared;
  int i = 0;
  while (i < board->count && rgi_board_waiting(&balancer->async.board)[i].least <= balancer->team.n)
    i++;
  return i < board->count;
}

/* The group asks an idle one whether it may join it, if both together may start a walker. */
static int gather_or_fail(rg_balancer balancer, rgi_board_row *own) {
  const rgi_board_shared *board = balancer->async.board.shared;
  for (int i = 0; i < board->processes && lacks_processes(balancer); i++) {
    const rgi_board_row *row = &board->row[i];
    if (!row->leads || row == own || row->seen != board->version)
      continue;
    own->seen = -1;
    balancer->async.search.part = (rgi_search_part){
        .ranks = balancer->team.n, .target = row->load.id, .stamp = row->stamp, .credit = -1};
    return RG_SUCCESS;
  }
  balancer->async.join.gathers = 1;
  return check_stuck(balancer);
}

int rgi_idle_plan_due(const struct rg_balancer_s *balancer) {
  return atomic_load_explicit(&balancer->async.board.shared->version, memory_order_relaxed) !=
             balancer->async.search.seen ||
         balancer->async.nodes.loads.news;
}

int rgi_idle_plan_make(rg_balancer balancer, int64_t command[2]) {
  rg_load_table table;
  rgi_board_row *row = rgi_board_row_of(&balancer->async.board, balancer->members.rank);
  if (balancer->async.board.shared->ended) {
    command[0] = RGI_IDLE_COMMAND_END;
    return rgi_meeting_step_end(balancer);
  }
  balancer->async.nodes.loads.news = 0;
  balancer->async.search.seen = balancer->async.board.shared->version;
  row->seen = -1;
  balancer->async.join.gathers = 0;
  RGI_TRY(rgi_planner_read_board(&balancer->async.board, &balancer->async.nodes.loads,
                                 &balancer->planner, &table));
  RGI_TRY(rgi_planner_ask(&balancer->planner, &table));
  if (balancer->planner.plan.count == 0) {
    row->seen = balancer->async.search.seen;
    return gather_or_fail(balancer, row);
  }
  return carry_out(balancer, (int)table.waiting_count, command);
}
