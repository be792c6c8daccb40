/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What MPI keeps for a window that is served: attributes and error handlers of the application,
 * whose functions, in C or Fortran, MPI calls. A window of MPI's with no memory, of this process
 * alone, stands in for the window. It is made when the first of these is set: few windows need it.
 * The application's functions get the window's own handle: error handlers are called here, and the
 * functions of attributes by win_keyval.c. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi/intercept.h"
#include "mpich/windows/win_access.h"
#include "progress/mpi_error.h"

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

RGI_WIN_THREAD rgi_win *rgi_win_handing;

MPI_Win rgi_win_stand_in(rgi_win *window) {
  MPI_Win made = MPI_WIN_NULL;
  pthread_mutex_lock(&making);
  if (window->stand_in == MPI_WIN_NULL &&
      RGI_INTERCEPT_NEXT(PMPI_Win_create)(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &made) ==
          MPI_SUCCESS) {
    RGI_INTERCEPT_NEXT(PMPI_Win_set_errhandler)(made, MPI_ERRORS_RETURN);
    window->stand_in = made;
  }
  made = window->stand_in;
  pthread_mutex_unlock(&making);
  return made;
}

int rgi_win_stand_in_free(rgi_win *window) {
  MPI_Win handle = window->stand_in;
  if (handle == MPI_WIN_NULL)
    return MPI_SUCCESS;
  rgi_win *before = rgi_win_handing;
  rgi_win_handing = window;
  int code = RGI_INTERCEPT_NEXT(PMPI_Win_free)(&handle); /* calls the functions of the attributes */
  rgi_win_handing = before;
  if (code != MPI_SUCCESS)
    return rgi_win_raise(window, code, "MPI_Win_free", RGI_WIN_NO_TARGET);
  window->stand_in = MPI_WIN_NULL;
  return MPI_SUCCESS;
}

/* --- error handlers ------------------------------------------------------------------------- */

/* The functions of the error handlers that the application has made for windows. MPI uses a
 * handle again when it is free. */
typedef struct own_handler {
  MPI_Errhandler handle;
  MPI_Win_errhandler_function *function;
  struct own_handler *next;
} own_handler;

static struct {
  pthread_mutex_t lock;
  own_handler *first;
} made = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* NULL: no memory. Under the lock. */
static own_handler *find_handler(MPI_Errhandler handle, int add) {
  own_handler *h = made.first;
  while (h && h->handle != handle)
    h = h->next;
  if (h || !add || !(h = malloc(sizeof *h)))
    return h;
  *h = (own_handler){handle, NULL, made.first};
  return made.first = h;
}

RG_API int MPI_Win_create_errhandler(MPI_Win_errhandler_function *function,
                                     MPI_Errhandler *handler) {
  int code = RGI_INTERCEPT_NEXT(PMPI_Win_create_errhandler)(function, handler);
  if (code != MPI_SUCCESS)
    return code;
  pthread_mutex_lock(&made.lock);
  own_handler *h = find_handler(*handler, 1);
  if (h)
    h->function = function;
  pthread_mutex_unlock(&made.lock);
  return code;
}

static MPI_Win_errhandler_function *function_of(MPI_Errhandler handler) {
  pthread_mutex_lock(&made.lock);
  own_handler *h = find_handler(handler, 0);
  MPI_Win_errhandler_function *function = h ? h->function : NULL;
  pthread_mutex_unlock(&made.lock);
  return function;
}

/* Those of MPI's that need no reference. */
static int is_simple(MPI_Errhandler handler) {
#if MPI_VERSION >= 4
  if (handler == MPI_ERRORS_ABORT)
    return 1;
#endif
  return handler == MPI_ERRORS_RETURN || handler == MPI_ERRORS_ARE_FATAL ||
         handler == MPI_ERRHANDLER_NULL;
}

/* 0: the error is MPI's to raise, or to return. */
static int is_fatal(const rgi_win *window) {
  MPI_Errhandler handler = window->handler;
  if (handler == MPI_ERRHANDLER_NULL) {
    RGI_INTERCEPT_NEXT(PMPI_Win_get_errhandler)(window->stand_in, &handler);
    if (!is_simple(handler))
      PMPI_Errhandler_free(&handler);
  }
  return is_simple(handler) && handler != MPI_ERRORS_RETURN && handler != MPI_ERRHANDLER_NULL;
}

/* As MPI's fatal errors, with what the program has called. Does not return. */
static void end_job(const rgi_win *window, int code, const char *text) {
  char why[MPI_MAX_ERROR_STRING] = "", name[MPI_MAX_OBJECT_NAME] = "", line[1024];
  int length, rank = -1;
  rgi_mpi_error_lines(code, why);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (window->handle == window->stand_in)
    PMPI_Win_get_name(window->stand_in, name, &length);
  snprintf(line, sizeof line,
           "regroup: rank %d: fatal error in %s on window \"%s\" (0x%x, %d members): %s", rank,
           text, *name ? name : window->name, (unsigned)window->handle, window->n, why);
  rgi_intercept_abort(MPI_COMM_WORLD, code, line);
}

static int raise_code(rgi_win *window, int code, const char *text) {
  MPI_Win handle = window->handle;
  int told = code;
  if (window->handler == MPI_ERRORS_RETURN)
    return code;
  if (is_fatal(window))
    end_job(window, code, text);
  if (window->function) {
    window->function(&handle, &told);
    return code;
  }
  MPI_Win stand_in = rgi_win_stand_in(window);
  if (window->handler != MPI_ERRHANDLER_NULL)
    RGI_INTERCEPT_NEXT(PMPI_Win_set_errhandler)(stand_in, window->handler);
  RGI_INTERCEPT_NEXT(PMPI_Win_call_errhandler)(stand_in, code);
  if (window->handler != MPI_ERRHANDLER_NULL)
    RGI_INTERCEPT_NEXT(PMPI_Win_set_errhandler)(stand_in, MPI_ERRORS_RETURN);
  return code;
}

int rgi_win_raise(rgi_win *window, int class, const char *call, int rank) {
  char text[128];
  if (rank == RGI_WIN_NO_TARGET)
    return raise_code(window, class, call);
  snprintf(text, sizeof text, "%s(target rank %d)", call, rank);
  return raise_code(window, class, text);
}

int rgi_win_raise_access(rgi_win *window, int class, const rgi_win_access *access) {
  char text[512], type[MPI_MAX_OBJECT_NAME] = "", memory[96] = "";
  int length, known = access->rank >= 0 && access->rank < window->n;
  const rgi_win_target *target = &window->target[known ? access->rank : 0];
  if (access->target.type != MPI_DATATYPE_NULL)
    PMPI_Type_get_name(access->target.type, type, &length);
  if (known)
    snprintf(memory, sizeof memory, ", where it has %lld bytes in units of %lld,",
             (long long)target->size, (long long)target->disp_unit);
  snprintf(text, sizeof text, "%s(target rank %d, displacement %lld, count %lld, %s)%s",
           access->call, access->rank, (long long)access->disp, (long long)access->target.count,
           *type ? type : "a type without a name", memory);
  return raise_code(window, class, text);
}

int rgi_win_raise_own(rgi_win *window, int error, const char *call) {
  return error ? raise_code(window, rgi_intercept_code(error), call) : MPI_SUCCESS;
}

/* One more reference to an error handler, by way of the stand-in. */
static int refer_to(rgi_win *window, MPI_Errhandler handler, MPI_Errhandler *same) {
  MPI_Win stand_in = rgi_win_stand_in(window);
  int code = RGI_INTERCEPT_NEXT(PMPI_Win_set_errhandler)(stand_in, handler);
  if (code == MPI_SUCCESS)
    code = RGI_INTERCEPT_NEXT(PMPI_Win_get_errhandler)(stand_in, same);
  RGI_INTERCEPT_NEXT(PMPI_Win_set_errhandler)(stand_in, MPI_ERRORS_RETURN);
  return code;
}

void rgi_win_drop_handler(rgi_win *window) {
  if (!is_simple(window->handler))
    PMPI_Errhandler_free(&window->handler);
  window->function = NULL;
}

RG_API int MPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler handler) {
  rgi_win *window = rgi_win_of(win);
  MPI_Errhandler kept = handler;
  if (!window)
    return RGI_INTERCEPT_NEXT(PMPI_Win_set_errhandler)(win, handler);
  int code = handler != MPI_ERRHANDLER_NULL && is_simple(handler)
                 ? MPI_SUCCESS
                 : refer_to(window, handler, &kept);
  if (code != MPI_SUCCESS)
    return rgi_win_raise(window, code, __func__, RGI_WIN_NO_TARGET);
  rgi_win_drop_handler(window);
  window->handler = kept;
  window->function = is_simple(kept) ? NULL : function_of(kept);
  return MPI_SUCCESS;
}

RG_API int MPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *handler) {
  rgi_win *window = rgi_win_of(win);
  if (!window)
    return RGI_INTERCEPT_NEXT(PMPI_Win_get_errhandler)(win, handler);
  if (!handler)
    return rgi_win_raise(window, MPI_ERR_ARG, __func__, RGI_WIN_NO_TARGET);
  if (!is_simple(window->handler))
    return refer_to(window, window->handler, handler);
  *handler = window->handler;
  return MPI_SUCCESS;
}

RG_API int MPI_Win_call_errhandler(MPI_Win win, int code) {
  rgi_win *window = rgi_win_of(win);
  if (!window)
    return RGI_INTERCEPT_NEXT(PMPI_Win_call_errhandler)(win, code);
  raise_code(window, code, __func__);
  return MPI_SUCCESS;
}

RGI_INTERCEPT_BOTH(Win_create_errhandler);
RGI_INTERCEPT_BOTH(Win_set_errhandler);
RGI_INTERCEPT_BOTH(Win_get_errhandler);
RGI_INTERCEPT_BOTH(Win_call_errhandler);
