/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The delete functions of windows' attributes. MPI keeps the attributes of a window that is served
 * on its stand-in, and would give the stand-in's handle to the application's function. So MPI gets
 * a function of this file, with what the application has given as its extra state. MPI never copies
 * a window, so it calls no copy functions.
 *
 * MPICH's Fortran bindings make a key like C, and then tell MPI the function ("proxy") by which
 * Fortran's are called. */
#include <pthread.h>
#include <stdlib.h>

#include "mpi/intercept.h"
#include "mpich/windows/win.h"

typedef int delete_proxy(MPI_Comm_delete_attr_function *function, int handle, int key, int kind,
                         void *value, void *extra);
typedef int copy_proxy(MPI_Comm_copy_attr_function *function, int handle, int key, void *extra,
                       int kind, void *value, void **copy, int *flag);

/* What the application has given. It stays as long as the program, since attributes may outlive
 * their key; keys with the same function and state share one. */
typedef struct given {
  MPI_Win_delete_attr_function *function;
  void *extra;
  delete_proxy *proxy; /* Fortran's, or NULL */
  struct given *next;
} given;

static struct {
  pthread_mutex_t lock;
  given *first;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The key that this thread makes, for the call by which Fortran tells its proxy. */
static RGI_WIN_THREAD struct {
  int key;
  given *given;
} latest = {.key = MPI_KEYVAL_INVALID};

/* NULL: no memory. */
static given *find_given(MPI_Win_delete_attr_function *function, void *extra) {
  pthread_mutex_lock(&all.lock);
  given *g = all.first;
  while (g && (g->function != function || g->extra != extra))
    g = g->next;
  if (!g && (g = malloc(sizeof *g))) {
    *g = (given){.function = function, .extra = extra, .next = all.first};
    all.first = g;
  }
  pthread_mutex_unlock(&all.lock);
  return g;
}

/* The program's handle of the window whose attribute MPI deletes. */
static MPI_Win own_handle(MPI_Win handle) {
  const rgi_win *window = rgi_win_handing;
  return window && window->stand_in == handle ? window->handle : handle;
}

static int delete_attribute(MPI_Win win, int key, void *value, void *extra) {
  const given *g = extra;
  return g->function(own_handle(win), key, value, g->extra);
}

static int delete_by_proxy(MPI_Comm_delete_attr_function *function, int handle, int key, int kind,
                           void *value, void *extra) {
  const given *g = extra;
  (void)function;
  return g->proxy((MPI_Comm_delete_attr_function *)g->function, own_handle(handle), key, kind,
                  value, g->extra);
}

RG_API int MPI_Win_create_keyval(MPI_Win_copy_attr_function *copy,
                                 MPI_Win_delete_attr_function *function, int *key, void *extra) {
  given *g = function == MPI_WIN_NULL_DELETE_FN || !key ? NULL : find_given(function, extra);
  int code = g ? RGI_INTERCEPT_NEXT(PMPI_Win_create_keyval)(copy, delete_attribute, key, g)
               : RGI_INTERCEPT_NEXT(PMPI_Win_create_keyval)(copy, function, key, extra);
  latest.key = code == MPI_SUCCESS && g ? *key : MPI_KEYVAL_INVALID;
  latest.given = g;
  return code;
}

void MPII_Keyval_set_proxy(int key, copy_proxy *copy, delete_proxy *proxy);

RG_API void MPII_Keyval_set_proxy(int key, copy_proxy *copy, delete_proxy *proxy) {
  int ours = key == latest.key && key != MPI_KEYVAL_INVALID;
  if (ours)
    latest.given->proxy = proxy;
  RGI_INTERCEPT_NEXT(MPII_Keyval_set_proxy)(key, copy, ours ? delete_by_proxy : proxy);
}

RGI_INTERCEPT_BOTH(Win_create_keyval);
