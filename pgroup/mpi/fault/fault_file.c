/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Collectives on files: what MPI makes of an interruption there is not known to be safe, so that
 * they are watched (fault_watch.h). The processes of a file are noted when it is opened. */
#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "formation/group.h"
#include "mpi/fault/fault_comm.h"
#include "mpi/fault/fault_request.h"
#include "mpi/fault/fault_watch.h"
#include "mpi/intercept.h"

typedef struct open_file {
  struct open_file *next;
  MPI_File file;
  rgi_fault_comm *state;
} open_file;

static struct {
  pthread_mutex_t lock;
  open_file *first;
} files = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Where there is no memory it is not watched. */
static void note_file(MPI_File file, rgi_fault_comm *state) {
  open_file *noted = malloc(sizeof *noted);
  if (!noted)
    return;
  rgi_fault_comm_use(state);
  pthread_mutex_lock(&files.lock);
  *noted = (open_file){.next = files.first, .file = file, .state = state};
  files.first = noted;
  pthread_mutex_unlock(&files.lock);
}

static void forget_file(MPI_File file) {
  pthread_mutex_lock(&files.lock);
  open_file **at = &files.first, *noted;
  while ((noted = *at) && noted->file != file)
    at = &noted->next;
  if (noted)
    *at = noted->next;
  pthread_mutex_unlock(&files.lock);
  if (noted)
    rgi_fault_comm_drop(noted->state);
  free(noted);
}

/* NULL: not known. It stays while the file is open. */
static const rgi_members *members_of(MPI_File file) {
  if (!rgi_fault_comm_on)
    return NULL;
  pthread_mutex_lock(&files.lock);
  const open_file *noted = files.first;
  while (noted && noted->file != file)
    noted = noted->next;
  pthread_mutex_unlock(&files.lock);
  return noted ? noted->state->group->members : NULL;
}

#define WATCHED(function, file_, ...)                                                              \
  rgi_fault_watch watch;                                                                           \
  rgi_fault_watch_begin(&watch, members_of(file_), RGI_FAULT_NAME(function));                      \
  int code = RGI_INTERCEPT_NEXT(function)(file_, ##__VA_ARGS__);                                   \
  rgi_fault_watch_end(&watch);                                                                     \
  return code
#define RGI_FAULT_NAME(function) RGI_FAULT_NAME_OF(function)
#define RGI_FAULT_NAME_OF(function) #function

RG_API int MPI_File_open(MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file) {
  rgi_fault_watch watch;
  rgi_fault_comm *state = rgi_fault_comm_find(comm);
  int error = state ? rgi_fault_comm_check(state, "MPI_File_open") : RG_SUCCESS;
  if (error)
    return rgi_intercept_raise(RGI_INTERCEPT_COUNT, comm, error);
  rgi_fault_watch_begin(&watch, state ? state->group->members : NULL, "MPI_File_open");
  int code = RGI_INTERCEPT_NEXT(MPI_File_open)(comm, name, mode, info, file);
  rgi_fault_watch_end(&watch);
  if (state && code == MPI_SUCCESS)
    note_file(*file, state);
  return code;
}

RG_API int MPI_File_close(MPI_File *file) {
  rgi_fault_watch watch;
  MPI_File was = *file;
  rgi_fault_watch_begin(&watch, members_of(was), "MPI_File_close");
  int code = RGI_INTERCEPT_NEXT(MPI_File_close)(file);
  rgi_fault_watch_end(&watch);
  if (rgi_fault_comm_on && code == MPI_SUCCESS)
    forget_file(was);
  return code;
}

RG_API int MPI_File_set_size(MPI_File file, MPI_Offset size) {
  WATCHED(MPI_File_set_size, file, size);
}

RG_API int MPI_File_preallocate(MPI_File file, MPI_Offset size) {
  WATCHED(MPI_File_preallocate, file, size);
}

RG_API int MPI_File_set_view(MPI_File file, MPI_Offset disp, MPI_Datatype etype,
                             MPI_Datatype filetype, const char *datarep, MPI_Info info) {
  WATCHED(MPI_File_set_view, file, disp, etype, filetype, datarep, info);
}

RG_API int MPI_File_seek_shared(MPI_File file, MPI_Offset offset, int whence) {
  WATCHED(MPI_File_seek_shared, file, offset, whence);
}

RG_API int MPI_File_read_at_all_end(MPI_File file, void *buffer, MPI_Status *status) {
  WATCHED(MPI_File_read_at_all_end, file, buffer, status);
}

RG_API int MPI_File_write_at_all_end(MPI_File file, const void *buffer, MPI_Status *status) {
  WATCHED(MPI_File_write_at_all_end, file, buffer, status);
}

RG_API int MPI_File_read_all_end(MPI_File file, void *buffer, MPI_Status *status) {
  WATCHED(MPI_File_read_all_end, file, buffer, status);
}

RG_API int MPI_File_write_all_end(MPI_File file, const void *buffer, MPI_Status *status) {
  WATCHED(MPI_File_write_all_end, file, buffer, status);
}

RG_API int MPI_File_read_ordered_end(MPI_File file, void *buffer, MPI_Status *status) {
  WATCHED(MPI_File_read_ordered_end, file, buffer, status);
}

RG_API int MPI_File_write_ordered_end(MPI_File file, const void *buffer, MPI_Status *status) {
  WATCHED(MPI_File_write_ordered_end, file, buffer, status);
}

RG_API int MPI_File_set_atomicity(MPI_File file, int flag) {
  WATCHED(MPI_File_set_atomicity, file, flag);
}

RG_API int MPI_File_sync(MPI_File file) {
  WATCHED(MPI_File_sync, file);
}

#define COUNT int
#define FORM(name) name
#include "mpi/fault/fault_file_forms.h"
#undef COUNT
#undef FORM

#define COUNT MPI_Count
#define FORM(name) name##_c
#include "mpi/fault/fault_file_forms.h"
