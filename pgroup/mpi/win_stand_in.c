/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What MPI keeps for a window that is served: attributes and error handlers of the application,
 * whose functions, in C or Fortran, MPI alone can call. A window of MPI's with no memory, of this
 * process alone, stands in for the window. It is made when the first of these is set, or an error
 * is fatal: few windows need it. MPI gives its handle to the application's functions; calls with it
 * are calls on the window. */
#include <pthread.h>

#include "mpi/intercept.h"
#include "mpi/win.h"

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

MPI_Win rgi_win_stand_in(rgi_win *w) {
  MPI_Win made = MPI_WIN_NULL;
  pthread_mutex_lock(&making);
  if (w->stand_in == MPI_WIN_NULL &&
      RGI_INTERCEPT_NEXT(PMPI_Win_create)(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &made) ==
          MPI_SUCCESS) {
    w->stand_in = made;
    atomic_fetch_add(&rgi_win_stand_ins, 1);
  }
  made = w->stand_in;
  pthread_mutex_unlock(&making);
  return made;
}

int rgi_win_stand_in_free(rgi_win *w) {
  MPI_Win handle = w->stand_in;
  if (handle == MPI_WIN_NULL)
    return MPI_SUCCESS;
  int code = RGI_INTERCEPT_NEXT(PMPI_Win_free)(&handle); /* calls the functions of the attributes */
  if (code != MPI_SUCCESS)
    return code;
  w->stand_in = MPI_WIN_NULL;
  atomic_fetch_sub(&rgi_win_stand_ins, 1);
  return MPI_SUCCESS;
}

static int raise_code(rgi_win *w, int code) {
  if (w->handler == MPI_ERRORS_RETURN)
    return code;
  MPI_Win stand_in = rgi_win_stand_in(w);
  if (w->handler != MPI_ERRHANDLER_NULL)
    RGI_INTERCEPT_NEXT(PMPI_Win_set_errhandler)(stand_in, w->handler);
  RGI_INTERCEPT_NEXT(PMPI_Win_call_errhandler)(stand_in, code);
  return code;
}

int rgi_win_raise(rgi_win *w, int class) {
  return raise_code(w, class);
}

int rgi_win_raise_own(rgi_win *w, int error) {
  return error ? raise_code(w, rgi_intercept_code(error)) : MPI_SUCCESS;
}

/* --- error handlers ----------------------------------------------------------------------- */

/* Those of MPI's that are kept in the window itself. */
static int is_simple(MPI_Errhandler handler) {
#if MPI_VERSION >= 4
  if (handler == MPI_ERRORS_ABORT)
    return 1;
#endif
  return handler == MPI_ERRORS_RETURN || handler == MPI_ERRORS_ARE_FATAL;
}

RG_API int MPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler handler) {
  rgi_win *w = rgi_win_of(win);
  if (!w)
    return RGI_INTERCEPT_NEXT(PMPI_Win_set_errhandler)(win, handler);
  if (is_simple(handler)) {
    w->handler = handler;
    return MPI_SUCCESS;
  }
  int code = RGI_INTERCEPT_NEXT(PMPI_Win_set_errhandler)(rgi_win_stand_in(w), handler);
  if (code == MPI_SUCCESS)
    w->handler = MPI_ERRHANDLER_NULL;
  return code;
}

RG_API int MPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *handler) {
  rgi_win *w = rgi_win_of(win);
  if (!w || !handler || w->handler == MPI_ERRHANDLER_NULL)
    return RGI_INTERCEPT_NEXT(PMPI_Win_get_errhandler)(w ? rgi_win_stand_in(w) : win, handler);
  *handler = w->handler;
  return MPI_SUCCESS;
}

RG_API int MPI_Win_call_errhandler(MPI_Win win, int code) {
  rgi_win *w = rgi_win_of(win);
  if (!w)
    return RGI_INTERCEPT_NEXT(PMPI_Win_call_errhandler)(win, code);
  raise_code(w, code);
  return MPI_SUCCESS;
}

RGI_INTERCEPT_BOTH(Win_set_errhandler);
RGI_INTERCEPT_BOTH(Win_get_errhandler);
RGI_INTERCEPT_BOTH(Win_call_errhandler);
