/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What a window tells of itself: group, name, info, where its members' shared memory is. */
#include <stdlib.h>
#include <string.h>

#include "mpi/intercept.h"
#include "mpich/windows/win.h"

RG_API int MPI_Win_get_group(MPI_Win win, MPI_Group *group) {
  rgi_win *window = rgi_win_of(win);
  if (!window)
    return RGI_INTERCEPT_NEXT(PMPI_Win_get_group)(win, group);
  return PMPI_Group_union(window->members, MPI_GROUP_EMPTY, group);
}

RG_API int MPI_Win_set_name(MPI_Win win, const char *name) {
  rgi_win *window = rgi_win_of(win);
  if (!window)
    return RGI_INTERCEPT_NEXT(PMPI_Win_set_name)(win, name);
  if (!name)
    return rgi_win_raise(window, MPI_ERR_ARG, __func__, RGI_WIN_NO_TARGET);
  strncpy(window->name, name, sizeof window->name - 1);
  return MPI_SUCCESS;
}

RG_API int MPI_Win_get_name(MPI_Win win, char *name, int *length) {
  rgi_win *window = rgi_win_of(win);
  if (!window)
    return RGI_INTERCEPT_NEXT(PMPI_Win_get_name)(win, name, length);
  if (!name || !length)
    return rgi_win_raise(window, MPI_ERR_ARG, __func__, RGI_WIN_NO_TARGET);
  strcpy(name, window->name);
  *length = (int)strlen(name);
  return MPI_SUCCESS;
}

/* --- info ---------------------------------------------------------------------------------- */

/* The hints of the standard, with the values that they have where the application gives none. All
 * of them are allowed to be ignored, and are, except alloc_shared_noncontig. */
static const char *const hints[][2] = {
    {"no_locks", "false"},       {"accumulate_ordering", "rar,raw,war,waw"},
    {"same_size", "false"},      {"accumulate_ops", "same_op_no_op"},
    {"same_disp_unit", "false"}, {"alloc_shared_noncontig", "false"},
};

RG_API int MPI_Win_get_info(MPI_Win win, MPI_Info *info) {
  rgi_win *window = rgi_win_of(win);
  if (!window || !info)
    return RGI_INTERCEPT_NEXT(PMPI_Win_get_info)(window ? rgi_win_stand_in(window) : win, info);
  int code = PMPI_Info_create(info);
  for (size_t i = 0; i < sizeof hints / sizeof *hints && code == MPI_SUCCESS; i++) {
    char value[MPI_MAX_INFO_VAL + 1];
    int given = 0;
    if (window->info != MPI_INFO_NULL)
      PMPI_Info_get(window->info, hints[i][0], MPI_MAX_INFO_VAL, value, &given);
    code = PMPI_Info_set(*info, hints[i][0], given ? value : hints[i][1]);
  }
  return code;
}

static int add_hint(rgi_win *window, MPI_Info info, const char *key) {
  char value[MPI_MAX_INFO_VAL + 1];
  int given = 0;
  int code = PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &given);
  return code == MPI_SUCCESS && given ? PMPI_Info_set(window->info, key, value) : code;
}

RG_API int MPI_Win_set_info(MPI_Win win, MPI_Info info) {
  rgi_win *window = rgi_win_of(win);
  int code = MPI_SUCCESS;
  if (!window)
    return RGI_INTERCEPT_NEXT(PMPI_Win_set_info)(win, info);
  if (info == MPI_INFO_NULL)
    return rgi_win_raise(window, MPI_ERR_INFO, __func__, RGI_WIN_NO_TARGET);
  if (window->info == MPI_INFO_NULL)
    code = PMPI_Info_create(&window->info);
  for (size_t i = 0; i < sizeof hints / sizeof *hints && code == MPI_SUCCESS; i++)
    code = add_hint(window, info, hints[i][0]);
  return code;
}

/* --- shared memory ------------------------------------------------------------------------- */

/* MPI_PROC_NULL: the first member that has memory. */
static int find_memory(rgi_win *window, int rank, const rgi_win_target **found) {
  int i = rank;
  if (window->flavor != MPI_WIN_FLAVOR_SHARED)
    return MPI_ERR_RMA_FLAVOR;
  if (rank == MPI_PROC_NULL)
    for (i = 0; i < window->n - 1 && window->target[i].size == 0;)
      i++;
  if (i < 0 || i >= window->n)
    return MPI_ERR_RANK;
  *found = &window->target[i];
  return MPI_SUCCESS;
}

static int query_memory(rgi_win *window, const char *call, int rank, MPI_Aint *size,
                        MPI_Aint *disp_unit, void *baseptr) {
  const rgi_win_target *found;
  int class = find_memory(window, rank, &found);
  if (class != MPI_SUCCESS)
    return rgi_win_raise(window, class, call, RGI_WIN_NO_TARGET);
  *size = found->size;
  *disp_unit = found->disp_unit;
  *(void **)baseptr = found->base;
  return MPI_SUCCESS;
}

RG_API int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit,
                                void *baseptr) {
  rgi_win *window = rgi_win_of(win);
  MPI_Aint unit;
  if (!window)
    return RGI_INTERCEPT_NEXT(PMPI_Win_shared_query)(win, rank, size, disp_unit, baseptr);
  int code = query_memory(window, __func__, rank, size, &unit, baseptr);
  if (code == MPI_SUCCESS)
    *disp_unit = (int)unit;
  return code;
}

#if MPI_VERSION >= 4
RG_API int MPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
                                  void *baseptr) {
  rgi_win *window = rgi_win_of(win);
  return window ? query_memory(window, __func__, rank, size, disp_unit, baseptr)
                : RGI_INTERCEPT_NEXT(PMPI_Win_shared_query_c)(win, rank, size, disp_unit, baseptr);
}

RGI_INTERCEPT_BOTH(Win_shared_query_c);
#endif

/* --- only for dynamic windows, which are MPI's --------------------------------------------- */

RG_API int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size) {
  rgi_win *window = rgi_win_of(win);
  return window ? rgi_win_raise(window, MPI_ERR_RMA_FLAVOR, __func__, RGI_WIN_NO_TARGET)
                : RGI_INTERCEPT_NEXT(PMPI_Win_attach)(win, base, size);
}

RG_API int MPI_Win_detach(MPI_Win win, const void *base) {
  rgi_win *window = rgi_win_of(win);
  return window ? rgi_win_raise(window, MPI_ERR_RMA_FLAVOR, __func__, RGI_WIN_NO_TARGET)
                : RGI_INTERCEPT_NEXT(PMPI_Win_detach)(win, base);
}

RGI_INTERCEPT_BOTH(Win_get_group);
RGI_INTERCEPT_BOTH(Win_set_name);
RGI_INTERCEPT_BOTH(Win_get_name);
RGI_INTERCEPT_BOTH(Win_get_info);
RGI_INTERCEPT_BOTH(Win_set_info);
RGI_INTERCEPT_BOTH(Win_shared_query);
RGI_INTERCEPT_BOTH(Win_attach);
RGI_INTERCEPT_BOTH(Win_detach);
