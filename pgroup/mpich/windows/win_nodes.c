/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Making and freeing windows that span nodes, and their accesses. One allgather tells all members
 * where the others' memory is; then MPI makes the window. */
#include "mpich/windows/win_nodes.h"

#include <limits.h>
#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/spare.h"
#include "formation/group.h"
#include "shm/node.h"

/* What a member tells the others. memory: where it is in the arena; 0: not there. */
typedef struct {
  int64_t size; /* LACKS: no memory for the window or for what is kept of it */
  int64_t disp_unit;
  uint64_t memory;
} word;

#define LACKS (-1)
#define WORDS 3 /* of 8 bytes */

/* --- making ---------------------------------------------------------------------------------- */

static void drop_nodes(rgi_win_nodes *nodes) {
  if (nodes) {
    rgi_members_drop(nodes->members);
    free(nodes->window);
  }
  free(nodes);
}

/* NULL: no memory. */
static rgi_win_nodes *new_nodes(const rgi_win_plan *plan, int n) {
  rgi_win_nodes *nodes = calloc(1, sizeof *nodes + (size_t)n * sizeof *nodes->at);
  rgi_win *window = calloc(1, sizeof *window + (size_t)n * sizeof *window->target);
  if (!nodes || !window) {
    free(nodes);
    free(window);
    return NULL;
  }
  nodes->window = window;
  nodes->members = rgi_members_share(plan->group->members);
  window->n = n;
  rg_group_rank(plan->group, &window->me);
  window->flavor = plan->flavor;
  window->memory = plan->memory;
  window->handler = MPI_ERRHANDLER_NULL; /* that of the stand-in: the window itself */
  return nodes;
}

static int is_near(const rgi_win_plan *plan, int member) {
  return !rgi_node.of || rgi_node.of[rgi_members_at(plan->group->members, member)] == rgi_node.mine;
}

static void fill_targets(const rgi_win_plan *plan, rgi_win *window, const word all[]) {
  for (int i = 0; i < window->n; i++) {
    int reached = all[i].memory && is_near(plan, i);
    window->target[i] = (rgi_win_target){.base = reached ? rgi_arena_at(all[i].memory) : NULL,
                                         .size = all[i].size,
                                         .disp_unit = all[i].disp_unit};
  }
}

/* Whether all members have what they need, and some have memory in their arena. */
static int is_worth(const word all[], int n) {
  int some = 0;
  for (int i = 0; i < n; i++) {
    if (all[i].size == LACKS)
      return 0;
    some |= all[i].memory != 0;
  }
  return some;
}

/* The members tell one another what they have. *made: NULL if the call is passed on. */
static int exchange_words(const rgi_win_plan *plan, int ready, rgi_win_nodes **made) {
  int n = rgi_members_count(plan->group->members);
  word *all = rgi_spare_alloc((size_t)n * sizeof *all), mine = {LACKS, plan->disp_unit, 0};
  rgi_win_nodes *nodes = ready && all ? new_nodes(plan, n) : NULL;
  if (nodes) {
    mine.size = plan->size;
    if (plan->size > 0 && rgi_win_memory_holds(plan->base, plan->size))
      mine.memory = rgi_arena_offset(plan->base);
  }
  int error = all ? rg_allgather(plan->group, &mine, WORDS, MPI_INT64_T, all, WORDS, MPI_INT64_T)
                  : rgi_error(RG_ERR_NOMEM, "MPI_Win_create: no memory for %d members", n);
  if (!error && is_worth(all, n)) {
    fill_targets(plan, nodes->window, all);
    *made = nodes;
  } else
    drop_nodes(nodes);
  rgi_spare_free(all);
  return error;
}

/* A window that cannot be kept is MPI's alone; its memory is not freed then. */
static void keep_nodes(rgi_win_nodes *nodes, MPI_Win win) {
  nodes->window->handle = nodes->window->stand_in = win;
  if (rgi_win_nodes_add(nodes))
    return;
  rgi_log(RGI_LOG_WARN, "there are too many windows: all accesses to one are MPI's");
  drop_nodes(nodes);
}

int rgi_win_nodes_make(const rgi_win_plan *plan, int ready, MPI_Win *win, int *answer) {
  rgi_win_nodes *nodes = NULL;
  int error = exchange_words(plan, ready && plan->disp_unit <= INT_MAX, &nodes);
  if (!nodes) {
    rgi_win_memory_free(plan->memory);
    if (error)
      return rgi_intercept_end(RGI_INTERCEPT_RMA, plan->comm, error, answer);
    rgi_intercept_count(RGI_INTERCEPT_RMA, RGI_INTERCEPT_OTHER_COMM);
    return 0;
  }
  rgi_intercept_count(RGI_INTERCEPT_RMA, RGI_INTERCEPT_SERVED);
  *answer = RGI_WIN_WAITING(nodes, MPI_Win_create, plan->base, plan->size, (int)plan->disp_unit,
                            plan->info, plan->comm, win);
  if (*answer == MPI_SUCCESS)
    keep_nodes(nodes, *win);
  else {
    drop_nodes(nodes);
    rgi_win_memory_free(plan->memory);
  }
  return 1;
}

/* --- freeing --------------------------------------------------------------------------------- */

/* Another thread may get the same handle from MPI as soon as MPI has freed the window. */
int rgi_win_nodes_free(MPI_Win *win) {
  rgi_win_nodes *nodes = win ? rgi_win_nodes_of(*win) : NULL;
  if (!nodes)
    return RGI_INTERCEPT_NEXT(PMPI_Win_free)(win);
  rgi_win_nodes_remove(nodes);
  int code = RGI_WIN_WAITING(nodes, MPI_Win_free, win);
  if (code != MPI_SUCCESS) {
    rgi_win_nodes_add(nodes);
    return code;
  }
  rgi_win_memory_free(nodes->window->memory);
  drop_nodes(nodes);
  return MPI_SUCCESS;
}

/* --- accesses -------------------------------------------------------------------------------- */

/* After the access: another thread's flush that comes before it must not count it. */
void rgi_win_nodes_issued(rgi_win_nodes *nodes, int rank) {
  if (rank >= 0 && rank < nodes->window->n)
    rgi_win_nodes_raise(&nodes->at[rank].issued, atomic_fetch_add(&nodes->all.issued, 1) + 1);
}

/* MPI reports accesses outside of epochs and to wrong ranks. */
int rgi_win_nodes_access(rgi_win_nodes *nodes, rgi_win_access *access, int *code) {
  rgi_win *window = nodes->window;
  if (access->rank < 0 || access->rank >= window->n)
    return 0;
  const rgi_win_target *t = &window->target[access->rank];
  if (!window->open_all && !t->opening)
    return 0;
  if (access->kind < RGI_WIN_ACCUMULATE && t->base) {
    *code = rgi_win_access_make(window, access);
    return 1;
  }
  int class = rgi_win_access_check(window, access);
  if (class == MPI_SUCCESS)
    return 0;
  *code = rgi_win_raise_access(window, class, access);
  return 1;
}
