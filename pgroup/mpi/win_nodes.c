/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Making and freeing windows that span nodes, and their accesses. One allgather tells all members
 * where the others' memory is; then MPI makes the window. */
#include "mpi/win_nodes.h"

#include <limits.h>
#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
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

int rgi_win_nodes_possible(void) {
  static atomic_int known; /* 1: no, 2: yes */
  int is = atomic_load(&known);
  if (!is) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    PMPI_Get_library_version(version, &length);
    atomic_store(&known, is = strstr(version, "ch4") ? 2 : 1);
  }
  return is == 2;
}

/* --- making ---------------------------------------------------------------------------------- */

static void drop_nodes(rgi_win_nodes *s) {
  if (s)
    free(s->window);
  free(s);
}

/* NULL: no memory. */
static rgi_win_nodes *new_nodes(const rgi_win_plan *p, int n) {
  rgi_win_nodes *s = calloc(1, sizeof *s + (size_t)n * sizeof *s->at);
  rgi_win *w = calloc(1, sizeof *w + (size_t)n * sizeof *w->target);
  if (!s || !w) {
    free(s);
    free(w);
    return NULL;
  }
  s->window = w;
  w->n = n;
  rg_group_rank(p->group, &w->me);
  w->flavor = p->flavor;
  w->memory = p->memory;
  w->handler = MPI_ERRHANDLER_NULL; /* that of the stand-in: the window itself */
  return s;
}

static int is_near(const rgi_win_plan *p, int member) {
  return !rgi_node.of || rgi_node.of[rgi_members_at(p->group->members, member)] == rgi_node.mine;
}

static void fill_targets(const rgi_win_plan *p, rgi_win *w, const word all[]) {
  for (int i = 0; i < w->n; i++) {
    int reached = all[i].memory && is_near(p, i);
    w->target[i] = (rgi_win_target){.base = reached ? rgi_arena_at(all[i].memory) : NULL,
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
static int exchange_words(const rgi_win_plan *p, int ready, rgi_win_nodes **made) {
  int n = rgi_members_count(p->group->members);
  word *all = malloc((size_t)n * sizeof *all), mine = {LACKS, p->disp_unit, 0};
  rgi_win_nodes *s = ready && all ? new_nodes(p, n) : NULL;
  if (s) {
    mine.size = p->size;
    if (p->size > 0 && rgi_win_memory_holds(p->base, p->size))
      mine.memory = rgi_arena_offset(p->base);
  }
  int error = all ? rg_allgather(p->group, &mine, WORDS, MPI_INT64_T, all, WORDS, MPI_INT64_T)
                  : rgi_error(RG_ERR_NOMEM, "MPI_Win_create: no memory for %d members", n);
  if (!error && is_worth(all, n)) {
    fill_targets(p, s->window, all);
    *made = s;
  } else
    drop_nodes(s);
  free(all);
  return error;
}

/* A window that cannot be kept is MPI's alone; its memory is not freed then. */
static void keep_nodes(rgi_win_nodes *s, MPI_Win win) {
  s->window->handle = s->window->stand_in = win;
  if (rgi_win_nodes_add(s))
    return;
  rgi_log(RGI_LOG_WARN, "there are too many windows: all accesses to one are MPI's");
  drop_nodes(s);
}

int rgi_win_nodes_make(const rgi_win_plan *p, int ready, MPI_Win *win, int *answer) {
  rgi_win_nodes *s = NULL;
  int error = exchange_words(p, ready && p->disp_unit <= INT_MAX, &s);
  if (!s) {
    rgi_win_memory_free(p->memory);
    if (error)
      return rgi_intercept_end(RGI_INTERCEPT_RMA, p->comm, error, answer);
    rgi_intercept_count(RGI_INTERCEPT_RMA, RGI_INTERCEPT_OTHER_COMM);
    return 0;
  }
  rgi_intercept_count(RGI_INTERCEPT_RMA, RGI_INTERCEPT_SERVED);
  *answer = RGI_INTERCEPT_NEXT(PMPI_Win_create)(p->base, p->size, (int)p->disp_unit, p->info,
                                                p->comm, win);
  if (*answer == MPI_SUCCESS)
    keep_nodes(s, *win);
  else {
    drop_nodes(s);
    rgi_win_memory_free(p->memory);
  }
  return 1;
}

/* --- freeing --------------------------------------------------------------------------------- */

/* Another thread may get the same handle from MPI as soon as MPI has freed the window. */
int rgi_win_nodes_free(MPI_Win *win) {
  rgi_win_nodes *s = win ? rgi_win_nodes_of(*win) : NULL;
  if (!s)
    return RGI_INTERCEPT_NEXT(PMPI_Win_free)(win);
  rgi_win_nodes_remove(s);
  int code = RGI_INTERCEPT_NEXT(PMPI_Win_free)(win);
  if (code != MPI_SUCCESS) {
    rgi_win_nodes_add(s);
    return code;
  }
  rgi_win_memory_free(s->window->memory);
  drop_nodes(s);
  return MPI_SUCCESS;
}

/* --- accesses -------------------------------------------------------------------------------- */

/* After the access: another thread's flush that comes before it must not count it. */
void rgi_win_nodes_issued(rgi_win_nodes *s, int rank) {
  if (rank >= 0 && rank < s->window->n)
    rgi_win_nodes_raise(&s->at[rank].issued, atomic_fetch_add(&s->all.issued, 1) + 1);
}

/* MPI reports accesses outside of epochs and to wrong ranks. */
int rgi_win_nodes_access(rgi_win_nodes *s, rgi_win_access *a, int *code) {
  rgi_win *w = s->window;
  if (a->rank < 0 || a->rank >= w->n)
    return 0;
  const rgi_win_target *t = &w->target[a->rank];
  if (!w->open_all && !t->opening)
    return 0;
  if (a->kind < RGI_WIN_ACCUMULATE && t->base) {
    *code = rgi_win_access_make(w, a);
    return 1;
  }
  int class = rgi_win_access_check(w, a);
  if (class == MPI_SUCCESS)
    return 0;
  *code = rgi_win_raise_access(w, class, a);
  return 1;
}
