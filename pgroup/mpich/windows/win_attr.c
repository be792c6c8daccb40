/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Attributes of windows. MPI keeps those of the application on the window's stand-in, and has those
 * that the standard defines for windows that span nodes, but for the flavor: MPI has made them all
 * on memory that was there. */
#include "mpi/intercept.h"
#include "mpich/windows/win_nodes.h"

/* The address of a predefined attribute, or NULL. MPICH's Fortran keys are the next numbers. */
static void *predefined(rgi_win *window, int key) {
  switch (key) {
  case MPI_WIN_BASE:
    return window->base;
  case MPI_WIN_SIZE:
    return &window->size;
  case MPI_WIN_DISP_UNIT:
    return &window->disp_unit;
  case MPI_WIN_CREATE_FLAVOR:
    return &window->flavor;
  case MPI_WIN_MODEL:
    return &window->model;
  default:
    return NULL;
  }
}

static int is_predefined(int key) {
  return key == MPI_WIN_BASE || key == MPI_WIN_SIZE || key == MPI_WIN_DISP_UNIT ||
         key == MPI_WIN_CREATE_FLAVOR || key == MPI_WIN_MODEL;
}

RG_API int MPI_Win_get_attr(MPI_Win win, int key, void *value, int *flag) {
  rgi_win *window = rgi_win_of(win);
  rgi_win_nodes *nodes = window ? NULL : rgi_win_nodes_of(win);
  if (nodes && key == MPI_WIN_CREATE_FLAVOR)
    window = nodes->window;
  if (!window)
    return RGI_INTERCEPT_NEXT(PMPI_Win_get_attr)(win, key, value, flag);
  if (!is_predefined(key))
    return RGI_INTERCEPT_NEXT(PMPI_Win_get_attr)(rgi_win_stand_in(window), key, value, flag);
  *(void **)value = predefined(window, key);
  *flag = 1;
  return MPI_SUCCESS;
}

/* MPI's function on the window's stand-in, or on MPI's own window: it may call a delete function of
 * the application's (win_keyval.c). */
#define HAND_ON(win, call)                                                                         \
  ({                                                                                               \
    rgi_win *w_ = rgi_win_of(win), *before_ = rgi_win_handing;                                     \
    MPI_Win at = w_ ? rgi_win_stand_in(w_) : (win);                                                \
    rgi_win_handing = w_ ? w_ : before_; /* MPI's functions call one another */                    \
    int code_ = call;                                                                              \
    rgi_win_handing = before_;                                                                     \
    w_ &&code_ != MPI_SUCCESS ? rgi_win_raise(w_, code_, __func__, RGI_WIN_NO_TARGET) : code_;     \
  })

RG_API int MPI_Win_set_attr(MPI_Win win, int key, void *value) {
  return HAND_ON(win, RGI_INTERCEPT_NEXT(PMPI_Win_set_attr)(at, key, value));
}

RG_API int MPI_Win_delete_attr(MPI_Win win, int key) {
  return HAND_ON(win, RGI_INTERCEPT_NEXT(PMPI_Win_delete_attr)(at, key));
}

RGI_INTERCEPT_BOTH(Win_get_attr);
RGI_INTERCEPT_BOTH(Win_set_attr);
RGI_INTERCEPT_BOTH(Win_delete_attr);

/* By MPICH's Fortran bindings; kind: of the value. Values of predefined attributes are those of the
 * integers themselves, the base is an address. */
int MPII_Win_get_attr(MPI_Win win, int key, void *value, int *flag, int kind);
int MPII_Win_set_attr(MPI_Win win, int key, void *value, int kind);

static MPI_Aint value_for_fortran(rgi_win *window, int key) {
  void *at = predefined(window, key);
  if (key == MPI_WIN_BASE)
    return (MPI_Aint)(intptr_t)at;
  return key == MPI_WIN_SIZE ? *(MPI_Aint *)at : *(int *)at;
}

RG_API int MPII_Win_get_attr(MPI_Win win, int key, void *value, int *flag, int kind) {
  rgi_win *window = rgi_win_of(win);
  rgi_win_nodes *nodes = window ? NULL : rgi_win_nodes_of(win);
  if (nodes && key - 1 == MPI_WIN_CREATE_FLAVOR)
    window = nodes->window;
  if (!window || !is_predefined(key - 1))
    return RGI_INTERCEPT_NEXT(MPII_Win_get_attr)(window ? rgi_win_stand_in(window) : win, key,
                                                 value, flag, kind);
  *(MPI_Aint *)value = value_for_fortran(window, key - 1);
  *flag = 1;
  return MPI_SUCCESS;
}

RG_API int MPII_Win_set_attr(MPI_Win win, int key, void *value, int kind) {
  return HAND_ON(win, RGI_INTERCEPT_NEXT(MPII_Win_set_attr)(at, key, value, kind));
}
