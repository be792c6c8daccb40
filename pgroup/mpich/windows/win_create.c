/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Making and freeing windows. Each member makes its part in the arena; one allgather tells all
 * members where the parts are. A member that has none, since its memory is not in the arena or
 * the arena is full, sends 0: then all members pass the call on to MPI. One for whose memory the
 * node has nothing left sends NO_MEMORY: then all members return MPI_ERR_NO_MEM. */
#include <regroup/collectives.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/spare.h"
#include "formation/group.h"
#include "mpi/intercept.h"
#include "mpich/windows/win_nodes.h"
#include "shm/node.h"

#define NO_MEMORY 1 /* no block of the arena begins there */

static int is_on_one_node(rg_group g) {
  int nodes = 1;
  return rgi_node.count == 1 || (rg_group_node_count(g, &nodes) == RG_SUCCESS && nodes == 1);
}

/* Memory that the members share cannot be that of several nodes. NULL: the call is passed on, by
 * all members. */
static rg_group group_to_serve(const rgi_win_plan *plan) {
  rg_group g = NULL;
  rgi_intercept_name_window(plan->flavor == MPI_WIN_FLAVOR_CREATE     ? "MPI_Win_create"
                            : plan->flavor == MPI_WIN_FLAVOR_ALLOCATE ? "MPI_Win_allocate"
                                                                      : "MPI_Win_allocate_shared");
  if (plan->comm == MPI_COMM_NULL || plan->size < 0 || plan->disp_unit <= 0 ||
      !rgi_mpich_gives()->handles)
    rgi_intercept_count(RGI_INTERCEPT_RMA, RGI_INTERCEPT_OTHER_CASE);
  else if ((g = rgi_intercept_group(RGI_INTERCEPT_RMA, plan->comm)) && !is_on_one_node(g) &&
           (plan->flavor == MPI_WIN_FLAVOR_SHARED || !rgi_mpich_gives()->opens_epochs)) {
    rgi_intercept_count(RGI_INTERCEPT_RMA, RGI_INTERCEPT_OTHER_COMM);
    g = NULL;
  }
  return g;
}

static int is_refused(const rgi_win_plan *plan, int *answer) {
  return rgi_intercept_refused(RGI_INTERCEPT_RMA, plan->comm, answer);
}

static rgi_win_plan plan_of(int flavor, void *base, MPI_Aint size, MPI_Aint disp_unit,
                            MPI_Info info, MPI_Comm comm) {
  return (rgi_win_plan){.comm = comm,
                        .info = info,
                        .flavor = flavor,
                        .size = size,
                        .disp_unit = disp_unit,
                        .base = base};
}

/* --- the caller's part ---------------------------------------------------------------------- */

static rgi_win_part *part_at(uint64_t offset) {
  return rgi_arena_at(offset);
}

static uint64_t make_part(const rgi_win_plan *plan, int n) {
  uint64_t at;
  size_t bytes =
      sizeof(rgi_win_part) + (size_t)n * (sizeof(rgi_shared_lock_claim) + sizeof(uint32_t));
  if (rgi_arena_alloc("MPI_Win_create", bytes, &at))
    return 0;
  rgi_win_part *part = part_at(at);
  memset(part, 0, bytes);
  part->bytes = (uint32_t)bytes;
  part->size = plan->size;
  part->disp_unit = plan->disp_unit;
  part->memory =
      plan->size > 0 || plan->flavor == MPI_WIN_FLAVOR_SHARED ? rgi_arena_offset(plan->base) : 0;
  for (int i = 0; i < n; i++)
    part->claims[i].rank = rgi_members_at(plan->group->members, i);
  return at;
}

static void free_part(uint64_t at) {
  if (at)
    rgi_arena_free(at, part_at(at)->bytes);
}

/* --- the window ------------------------------------------------------------------------------ */

static void fill_targets(rgi_win *window, const uint64_t all[]) {
  for (int i = 0; i < window->n; i++) {
    rgi_win_part *part = part_at(all[i]);
    window->target[i] = (rgi_win_target){.base = part->memory ? rgi_arena_at(part->memory) : NULL,
                                         .size = part->size,
                                         .disp_unit = part->disp_unit,
                                         .part = part};
  }
}

static void drop_window(rgi_win *window) {
  if (window->group)
    rg_group_free(&window->group);
  if (window->members != MPI_GROUP_NULL)
    PMPI_Group_free(&window->members);
  if (window->info != MPI_INFO_NULL)
    PMPI_Info_free(&window->info);
  free(window);
}

/* NULL: no memory. */
static rgi_win *make_window(const rgi_win_plan *plan, int n, uint64_t derivation) {
  rgi_win *window = calloc(1, sizeof *window + (size_t)n * sizeof *window->target);
  if (!window)
    return NULL;
  rgi_win_memory_open();
  window->n = n;
  window->flavor = plan->flavor;
  window->model = MPI_WIN_UNIFIED;
  window->base = plan->base;
  window->size = plan->size;
  window->disp_unit = (int)plan->disp_unit;
  window->memory = plan->memory;
  window->stand_in = MPI_WIN_NULL;
  window->handler = MPI_ERRORS_ARE_FATAL;
  window->members = MPI_GROUP_NULL;
  window->info = MPI_INFO_NULL;
  rg_group_rank(plan->group, &window->me);
  int good =
      rgi_group_derive_part(plan->group, derivation, 0, rgi_members_share(plan->group->members),
                            &window->group) == RG_SUCCESS &&
      PMPI_Comm_group(plan->comm, &window->members) == MPI_SUCCESS &&
      (plan->info == MPI_INFO_NULL || PMPI_Info_dup(plan->info, &window->info) == MPI_SUCCESS) &&
      rgi_win_table_add(window);
  if (good)
    return window;
  drop_window(window);
  return NULL;
}

static int has_any(const uint64_t all[], int n, uint64_t word) {
  for (int i = 0; i < n; i++)
    if (all[i] == word)
      return 1;
  return 0;
}

static int no_memory(void) {
  return rgi_error(RG_ERR_NOMEM, "a window: a member's node has no memory left for it");
}

/* The members tell one another what they have. ready: the caller has its memory. */
static int exchange(const rgi_win_plan *plan, int ready, rgi_win **made) {
  int n = rgi_members_count(plan->group->members), lacks = plan->lacks != MPI_SUCCESS;
  uint64_t *all = rgi_spare_alloc((size_t)n * sizeof *all);
  /* Counted by all, also by who makes no window: the next one's group is the same on all. */
  uint64_t derivation = rgi_group_derive_begin(plan->group);
  rgi_win *window = ready && all && !lacks ? make_window(plan, n, derivation) : NULL;
  uint64_t mine = lacks ? NO_MEMORY : window ? make_part(plan, n) : 0;
  int error = all ? rg_allgather(plan->group, &mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T)
                  : rgi_error(RG_ERR_NOMEM, "MPI_Win_create: no memory for %d members", n);
  if (!error && has_any(all, n, NO_MEMORY))
    error = no_memory();
  if (!error && !has_any(all, n, 0)) {
    fill_targets(window, all);
    *made = window;
  } else {
    free_part(lacks ? 0 : mine);
    if (window) {
      rgi_win_table_remove(window);
      drop_window(window);
    }
  }
  rgi_spare_free(all);
  return error;
}

/* The end of a creation: 1 and MPI's code, or 0: pass it on. */
static int end_creation(const rgi_win_plan *plan, int error, const rgi_win *window, MPI_Win *win,
                        int *answer) {
  if (error || !window)
    rgi_win_memory_free(plan->memory);
  if (!error && !window) {
    rgi_intercept_count(RGI_INTERCEPT_RMA, RGI_INTERCEPT_OTHER_CASE);
    return 0;
  }
  if (!rgi_intercept_end(RGI_INTERCEPT_RMA, plan->comm, error, answer))
    return 0;
  if (!error)
    *win = window->handle;
  return 1;
}

/* ready: the caller has its memory. 1 and MPI's code, or 0: pass the call on. */
static int create(const rgi_win_plan *plan, int ready, MPI_Win *win, int *answer) {
  rgi_win *window = NULL;
  if (!is_on_one_node(plan->group))
    return rgi_win_nodes_make(plan, ready, win, answer);
  int error = exchange(
      plan,
      ready && (plan->memory || plan->size == 0 || rgi_win_memory_holds(plan->base, plan->size)),
      &window);
  return end_creation(plan, error, window, win, answer);
}

/* --- MPI_Win_create -------------------------------------------------------------------------- */

static int serve_create(rgi_win_plan *plan, MPI_Win *win, int *answer) {
  plan->group = win ? group_to_serve(plan) : NULL;
  return plan->group ? create(plan, 1, win, answer) : is_refused(plan, answer);
}

RG_API int MPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                          MPI_Win *win) {
  rgi_win_plan plan = plan_of(MPI_WIN_FLAVOR_CREATE, base, size, disp_unit, info, comm);
  int answer;
  return serve_create(&plan, win, &answer)
             ? answer
             : RGI_INTERCEPT_NEXT(PMPI_Win_create)(base, size, disp_unit, info, comm, win);
}

/* --- MPI_Win_allocate ------------------------------------------------------------------------ */

typedef int offered_fn(MPI_Aint size);

/* Whether the memory is the program's arrays', which offer it to ARMCI by an MPI_Win_allocate of
 * their own (arrays/engine/armci_window.h). They do so in jobs on several nodes only. */
static int is_of_arrays(MPI_Aint size) {
  offered_fn *offered =
      rgi_node.count > 1 ? (offered_fn *)dlsym(RTLD_DEFAULT, "rgi_armci_window_is_offered") : NULL;
  return offered && offered(size);
}

static int serve_allocate(rgi_win_plan *plan, void *baseptr, MPI_Win *win, int *answer) {
  plan->group = win && baseptr ? group_to_serve(plan) : NULL;
  if (!plan->group)
    return is_refused(plan, answer);
  /* Zeroed as MPI's is, although the standard does not say so. */
  if (plan->size > 0)
    plan->lacks = rgi_win_memory_alloc(
        &(rgi_win_memory_wish){.call = "MPI_Win_allocate",
                               .bytes = plan->size,
                               .alignment = rgi_win_memory_alignment(plan->info),
                               .zeroed = 1},
        &plan->memory);
  plan->base = plan->memory;
  int served = create(plan, plan->size == 0 || plan->base, win, answer);
  if (served && *answer == MPI_SUCCESS)
    *(void **)baseptr = plan->base;
  return served;
}

/* Of an allocation that is passed on, for lack of memory for instance. MPICH 4.0 misplaces memory
 * if a member's size is no multiple of 16. */
static MPI_Aint size_for_mpi(MPI_Aint size) {
  int rounds =
      rgi_intercept_chosen(RGI_INTERCEPT_RMA) && size > 0 && size <= PTRDIFF_MAX - RGI_LINE;
  return rounds ? (MPI_Aint)rgi_lines_whole((uint64_t)size) : size;
}

/* Another library behind this one may define it, too, as that of the arrays does; but it calls MPI
 * by the other name. */
RG_API int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                            void *baseptr, MPI_Win *win) {
  rgi_win_plan plan = plan_of(MPI_WIN_FLAVOR_ALLOCATE, NULL, size, disp_unit, info, comm);
  int answer, ours = is_of_arrays(size);
  return !ours && serve_allocate(&plan, baseptr, win, &answer)
             ? answer
             : RGI_INTERCEPT_NEXT(MPI_Win_allocate)(ours ? size : size_for_mpi(size), disp_unit,
                                                    info, comm, baseptr, win);
}

RG_API int PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                             void *baseptr, MPI_Win *win) {
  rgi_win_plan plan = plan_of(MPI_WIN_FLAVOR_ALLOCATE, NULL, size, disp_unit, info, comm);
  int answer;
  return serve_allocate(&plan, baseptr, win, &answer)
             ? answer
             : RGI_INTERCEPT_NEXT(PMPI_Win_allocate)(size_for_mpi(size), disp_unit, info, comm,
                                                     baseptr, win);
}

/* --- MPI_Win_allocate_shared ----------------------------------------------------------------- */

static int wants_gaps(MPI_Info info) {
  char value[8] = "";
  int flag = 0;
  if (info != MPI_INFO_NULL)
    PMPI_Info_get(info, "alloc_shared_noncontig", sizeof value - 1, value, &flag);
  return flag && strcmp(value, "true") == 0;
}

/* Where the application permits gaps, a member's memory begins as it wants. */
static int64_t size_with_gap(const rgi_win_plan *plan) {
  size_t to = rgi_win_memory_alignment(plan->info);
  int64_t size = plan->size;
  if (!wants_gaps(plan->info))
    return size;
  size = (int64_t)rgi_lines_whole((uint64_t)size);
  return to > RGI_LINE ? (size + (int64_t)to - 1) / (int64_t)to * (int64_t)to : size;
}

/* Member 0 allocates for all. The members' memory lies side by side, in the order of ranks. base 0:
 * the arena is full; NO_MEMORY: so is the node's memory. */
static int allocate_common(rgi_win_plan *plan, uint64_t *base) {
  int n = rgi_members_count(plan->group->members), me;
  int64_t mine = size_with_gap(plan);
  int64_t *sizes = rgi_spare_alloc((size_t)n * sizeof *sizes), before = 0, all = 0;
  if (!sizes)
    return rgi_error(RG_ERR_NOMEM, "MPI_Win_allocate_shared: no memory for %d members", n);
  rg_group_rank(plan->group, &me);
  int error = rg_allgather(plan->group, &mine, 1, MPI_INT64_T, sizes, 1, MPI_INT64_T);
  for (int i = 0; i < n && !error; all += sizes[i++])
    if (i < me)
      before += sizes[i];
  rgi_spare_free(sizes);
  if (!error && me == 0) {
    const rgi_win_memory_wish wish = {.call = "MPI_Win_allocate_shared",
                                      .bytes = all,
                                      .alignment = rgi_win_memory_alignment(plan->info),
                                      .zeroed = 1};
    int class = rgi_win_memory_alloc(&wish, &plan->memory);
    *base = class == MPI_SUCCESS ? rgi_arena_offset(plan->memory) : NO_MEMORY;
  }
  if (!error)
    error = rg_bcast(plan->group, base, 1, MPI_UINT64_T, 0);
  if (!error && *base == NO_MEMORY)
    error = no_memory();
  if (!error && *base)
    plan->base = (char *)rgi_arena_at(*base) + before;
  return error;
}

static int serve_shared(rgi_win_plan *plan, void *baseptr, MPI_Win *win, int *answer) {
  rgi_win *window = NULL;
  uint64_t base = 0;
  plan->group = win && baseptr ? group_to_serve(plan) : NULL;
  if (!plan->group)
    return is_refused(plan, answer);
  int error = allocate_common(plan, &base);
  if (!error)
    error = exchange(plan, base != 0, &window);
  int served = end_creation(plan, error, window, win, answer);
  if (served && !error)
    *(void **)baseptr = plan->base;
  return served;
}

RG_API int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                                   void *baseptr, MPI_Win *win) {
  rgi_win_plan plan = plan_of(MPI_WIN_FLAVOR_SHARED, NULL, size, disp_unit, info, comm);
  int answer;
  return serve_shared(&plan, baseptr, win, &answer)
             ? answer
             : RGI_INTERCEPT_NEXT(PMPI_Win_allocate_shared)(size, disp_unit, info, comm, baseptr,
                                                            win);
}

/* --- the others ------------------------------------------------------------------------------ */

RG_API int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win) {
  rgi_intercept_count(RGI_INTERCEPT_RMA, rgi_intercept_chosen(RGI_INTERCEPT_RMA)
                                             ? RGI_INTERCEPT_OTHER_CASE
                                             : RGI_INTERCEPT_NOT_CHOSEN);
  return RGI_INTERCEPT_PASS(comm, RGI_INTERCEPT_NEXT(PMPI_Win_create_dynamic)(info, comm, win));
}

#if MPI_VERSION >= 4
RG_API int MPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                            MPI_Comm comm, MPI_Win *win) {
  rgi_win_plan plan = plan_of(MPI_WIN_FLAVOR_CREATE, base, size, disp_unit, info, comm);
  int answer;
  return serve_create(&plan, win, &answer)
             ? answer
             : RGI_INTERCEPT_NEXT(PMPI_Win_create_c)(base, size, disp_unit, info, comm, win);
}

RG_API int MPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                              void *baseptr, MPI_Win *win) {
  rgi_win_plan plan = plan_of(MPI_WIN_FLAVOR_ALLOCATE, NULL, size, disp_unit, info, comm);
  int answer;
  return serve_allocate(&plan, baseptr, win, &answer)
             ? answer
             : RGI_INTERCEPT_NEXT(PMPI_Win_allocate_c)(size_for_mpi(size), disp_unit, info, comm,
                                                       baseptr, win);
}

RG_API int MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                                     MPI_Comm comm, void *baseptr, MPI_Win *win) {
  rgi_win_plan plan = plan_of(MPI_WIN_FLAVOR_SHARED, NULL, size, disp_unit, info, comm);
  int answer;
  return serve_shared(&plan, baseptr, win, &answer)
             ? answer
             : RGI_INTERCEPT_NEXT(PMPI_Win_allocate_shared_c)(size, disp_unit, info, comm, baseptr,
                                                              win);
}

RGI_INTERCEPT_BOTH(Win_create_c);
RGI_INTERCEPT_BOTH(Win_allocate_c);
RGI_INTERCEPT_BOTH(Win_allocate_shared_c);
#endif

/* --- freeing --------------------------------------------------------------------------------- */

static void free_window(rgi_win *window) {
  rgi_win_drop_handler(window);
  rgi_win_table_remove(window);
  free_part(rgi_arena_offset(window->target[window->me].part));
  rgi_win_memory_free(window->memory);
  drop_window(window);
}

static int is_finalized(void) {
  int finalized = 0;
  if (!rgi_intercept_chosen(RGI_INTERCEPT_RMA))
    PMPI_Finalized(&finalized);
  return finalized;
}

/* The functions of the attributes may use the window, and one may refuse: so they come first, and
 * nobody waits for another process then. All members have come to the end of their epochs before
 * the memory goes. */
RG_API int MPI_Win_free(MPI_Win *win) {
  rgi_win *window = win ? rgi_win_of(*win) : NULL;
  if (!window)
    return rgi_win_nodes_free(win);
  if (is_finalized()) { /* it goes with the process */
    *win = MPI_WIN_NULL;
    return MPI_SUCCESS;
  }
  if (rgi_win_is_in_epoch(window) || window->exposed)
    return rgi_win_raise(window, MPI_ERR_RMA_SYNC, __func__, RGI_WIN_NO_TARGET);
  int code = rgi_win_stand_in_free(window);
  if (code != MPI_SUCCESS)
    return code;
  int error = rg_barrier(window->group);
  if (error)
    return rgi_win_raise_own(window, error, __func__);
  free_window(window);
  *win = MPI_WIN_NULL;
  return MPI_SUCCESS;
}

RGI_INTERCEPT_BOTH(Win_create);
RGI_INTERCEPT_BOTH(Win_allocate_shared);
RGI_INTERCEPT_BOTH(Win_create_dynamic);
RGI_INTERCEPT_BOTH(Win_free);
