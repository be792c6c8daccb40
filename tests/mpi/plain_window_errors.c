/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Wrong calls on windows: the error's class and text, and that it comes through the window's
 * handler; what lies beside the window keeps its value. With a number, what MPI alone cannot:
 * accesses beyond the memory, and so many windows at once, and twice as many one after another; a
 * second number: their bytes. */
#include <stdlib.h>
#include <string.h>

#include "plain.h"

static int handled;

static void handle(MPI_Win *win, int *code, ...) {
  (void)code;
  handled += *win != MPI_WIN_NULL;
}

static void told(const char *name, int code) {
  int class, length;
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Error_class(code, &class);
  plain_number(name, class * 100 + handled);
  if (code != MPI_SUCCESS)
    MPI_Error_string(code, text, &length);
  text[strcspn(text, ",")] = 0; /* behind it MPICH tells its own functions */
  plain_print("text", text, (int)strlen(text));
  handled = 0;
}

enum { COUNT = 16, LINE = 64 };

static void add_nothing(void *in, void *inout, int *n, MPI_Datatype *type) {
  (void)in, (void)inout, (void)n, (void)type;
}

/* Types that are not committed, on each side, and operations that accumulates do not take. */
static void wrong_types(MPI_Win win) {
  double v[COUNT] = {0}, r[COUNT];
  MPI_Datatype type;
  MPI_Op own;
  MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &type);
  MPI_Op_create(add_nothing, 1, &own);
  told("type of the origin", MPI_Put(v, 1, type, 0, 0, 2, MPI_DOUBLE, win));
  told("type of the target", MPI_Get(v, 2, MPI_DOUBLE, 0, 0, 1, type, win));
  told("type for no process",
       MPI_Accumulate(v, 1, type, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, MPI_SUM, win));
  told("type of the result",
       MPI_Get_accumulate(v, 2, MPI_DOUBLE, r, 1, type, 0, 0, 2, MPI_DOUBLE, MPI_OP_NULL, win));
  told("type of one", MPI_Fetch_and_op(v, r, type, 0, 0, MPI_SUM, win));
  told("type to compare", MPI_Compare_and_swap(v, v, r, MPI_DOUBLE, 0, 0, win));
  told("own operation", MPI_Accumulate(v, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, own, win));
  told("nothing", MPI_Accumulate(v, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_NO_OP, win));
  MPI_Op_free(&own);
  MPI_Type_free(&type);
}

/* own: the handler is the program's; MPICH 4.0 forgets it in some of these. */
static void wrong_accesses(MPI_Win win, int size, int own) {
  double v[COUNT] = {0};
  MPI_Group none = MPI_GROUP_NULL;
  told("outside of epochs", MPI_Put(v, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, win));
  told("get outside of epochs", MPI_Get(v, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, win));
  told("flush", MPI_Win_flush(0, win));
  told("flush all", MPI_Win_flush_all(win));
  told("unlock", MPI_Win_unlock(0, win));
  told("unlock all", MPI_Win_unlock_all(win));
  told("complete", MPI_Win_complete(win));
  told("wait", MPI_Win_wait(win));
  if (!own)
    told("group", MPI_Win_post(none, 0, win));
  told("lock type", MPI_Win_lock(-1, 0, 0, win));
  told("lock of a rank", MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win));
  told("attach", MPI_Win_attach(win, v, sizeof v));
  told("detach", MPI_Win_detach(win, v));
  told("lock", MPI_Win_lock_all(0, win));
  told("lock twice", MPI_Win_lock_all(0, win));
  told("fence", MPI_Win_fence(0, win));
  if (!own)
    told("free", MPI_Win_free(&win));
  told("rank", MPI_Put(v, 1, MPI_DOUBLE, size, 0, 1, MPI_DOUBLE, win));
  told("count", MPI_Get(v, -1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, win));
  told("target count", MPI_Put(v, 1, MPI_DOUBLE, 0, 0, -1, MPI_DOUBLE, win));
  told("displacement", MPI_Put(v, 1, MPI_DOUBLE, 0, -1, 1, MPI_DOUBLE, win));
  told("type", MPI_Put(v, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_DOUBLE, win));
  told("no operation", MPI_Accumulate(v, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_OP_NULL, win));
  wrong_types(win);
  told("good", MPI_Put(v, 0, MPI_DOUBLE, 0, 0, 0, MPI_DOUBLE, win));
  told("unlock", MPI_Win_unlock_all(win));
}

/* What MPI does not find: reaching beyond the memory. The classes are the standard's. */
static void reach_beyond(MPI_Win win, const double *base) {
  int rank, size, class[5];
  double v[2 * COUNT] = {0};
  MPI_Datatype spread;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Type_vector(3, 1, COUNT, MPI_DOUBLE, &spread);
  MPI_Type_commit(&spread);
  MPI_Win_lock_all(0, win);
  class[0] = MPI_Put(v, COUNT + 1, MPI_DOUBLE, 0, 0, COUNT + 1, MPI_DOUBLE, win);
  class[1] = MPI_Get(v, 1, MPI_DOUBLE, 0, COUNT, 1, MPI_DOUBLE, win);
  class[2] = MPI_Accumulate(v, 3, MPI_DOUBLE, 0, 0, 1, spread, MPI_SUM, win);
  class[3] = MPI_Fetch_and_op(v, v + 1, MPI_DOUBLE, 0, (MPI_Aint)1 << 61, MPI_SUM, win);
  class[4] = MPI_Accumulate(v, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_BAND, win);
  MPI_Win_unlock_all(win);
  for (int i = 0; i < 5; i++)
    MPI_Error_class(class[i], &class[i]);
  for (int i = 0; i < 4; i++)
    plain_number("beyond", class[i] == MPI_ERR_RMA_RANGE);
  plain_number("operation", class[4] == MPI_ERR_OP);
  plain_number("kept", base[0] == rank && base[COUNT - 1] == rank);
  MPI_Type_free(&spread);
}

static void make_many(int many, MPI_Aint bytes) {
  MPI_Win *win = malloc((size_t)many * sizeof *win), one;
  int rank, wrong = 0, *base;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < many; i++) {
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win[i]);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win[i]);
    *base = i;
  }
  for (int i = 0; i < many; i++) {
    int got = -1;
    MPI_Get(&got, 1, MPI_INT, rank, 0, 1, MPI_INT, win[i]);
    wrong += got != i;
    MPI_Win_unlock_all(win[i]);
    MPI_Win_free(&win[i]);
  }
  for (int i = 0; i < 2 * many; i++) {
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &one);
    MPI_Win_free(&one);
  }
  plain_number("many", wrong);
  free(win);
}

int main(int argc, char **argv) {
  MPI_Errhandler own, found;
  MPI_Win win;
  double *base;
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Win_allocate(COUNT * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                   &win);
  MPI_Win_get_errhandler(win, &found);
  plain_number("fatal", found == MPI_ERRORS_ARE_FATAL);
  base[0] = base[COUNT - 1] = rank;
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  wrong_accesses(win, size, 0);
  MPI_Win_create_errhandler(handle, &own);
  MPI_Win_set_errhandler(win, own);
  MPI_Errhandler_free(&own);
  wrong_accesses(win, size, 1);
  MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
  told("called", MPI_SUCCESS);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  if (argc > 1)
    reach_beyond(win, base);
  MPI_Win_free(&win);
  if (argc > 1)
    make_many(atoi(argv[1]), argc > 2 ? atoi(argv[2]) : LINE);
  told("no window", MPI_Win_flush(0, MPI_WIN_NULL));
  MPI_Finalize();
  return 0;
}
