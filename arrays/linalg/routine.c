/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A library that the program is linked with comes first: MKL's and Cray's LAPACK and ScaLAPACK are
 * used so. Otherwise the file that the option names, or the one that the build has found. A handle
 * of dlopen finds what the library itself needs, too: LAPACK's and BLAS's routines in ScaLAPACK's.
 * The libraries are never unloaded. */
#include "linalg/routine.h"

#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <regroup/linalg.h>
#include <regroup/runtime.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/option_table.h"
#include "distribution/type.h"

typedef struct {
  const char *title, *package; /* for errors */
  const char *sample;          /* a routine that it has */
  const char *builtin;         /* the file's name when the option is empty */
  rgi_options_id option;
  int tried, code; /* what the first call found, with its text */
  void *handle;    /* RTLD_DEFAULT: the program is linked with it */
  char name[256], text[RGI_ERROR_TEXT];
} routine_library;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of both while they are loaded */
static routine_library lapack = {.title = "LAPACK",
                                 .package = "liblapack3",
                                 .sample = "dsyevd_",
                                 .builtin = RG_LAPACK_FILE,
                                 .option = RGI_OPT_LAPACK},
                       scalapack = {.title = "ScaLAPACK",
                                    .package = RG_SCALAPACK_PACKAGE,
                                    .sample = "pdsyevd_",
                                    .builtin = RG_SCALAPACK_FILE,
                                    .option = RGI_OPT_SCALAPACK};

static int refuse(routine_library *library, const char *option, const char *reason) {
  if (library->handle)
    dlclose(library->handle);
  return rgi_error(RG_ERR_UNSUPPORTED,
                   "%s cannot be used: %s (Debian's package is %s; %s names another file)",
                   library->title, reason, library->package, option);
}

/* ScaLAPACK that was made for another MPI would bring that into the process. */
static int is_of_this_mpi(const routine_library *library) {
  return dlsym(library->handle, "MPI_Get_version") == dlsym(RTLD_DEFAULT, "MPI_Get_version");
}

static int load_file(routine_library *library) {
  const char *option, *asked;
  RGI_TRY(rg_option_get((int)library->option, &option, &asked, NULL, NULL, NULL, NULL));
  snprintf(library->name, sizeof library->name, "%s", *asked ? asked : library->builtin);
  if (strcmp(asked, "none") == 0)
    return refuse(library, option, "it is not to be used");
  if (!*asked && dlsym(RTLD_DEFAULT, library->sample)) {
    strcpy(library->name, "the program's");
    return RG_SUCCESS;
  }
  library->handle = dlopen(library->name, RTLD_NOW | RTLD_LOCAL);
  if (!library->handle)
    return refuse(library, option, dlerror());
  if (!dlsym(library->handle, library->sample))
    return refuse(library, option, "the file has no such routines");
  if (library == &scalapack && !is_of_this_mpi(library))
    return refuse(library, option, "the file is for another MPI");
  return RG_SUCCESS;
}

static int load(routine_library *library) {
  pthread_mutex_lock(&lock);
  if (!library->tried) {
    library->code = load_file(library);
    snprintf(library->text, sizeof library->text, "%s", library->code ? rg_error_detail() : "");
    library->tried = 1;
  }
  pthread_mutex_unlock(&lock);
  return library->code ? rgi_error(library->code, "%s", library->text) : RG_SUCCESS;
}

int rgi_routine_load_lapack(void) {
  return load(&lapack);
}

int rgi_routine_load_scalapack(void) {
  return load(&scalapack);
}

static rgi_routine *find_symbol(const routine_library *library, const char *name) {
  rgi_routine *routine;
  *(void **)&routine = dlsym(library->handle, name);
  return routine;
}

rgi_routine *rgi_routine_find(int several, rg_array_type type, const char *name) {
  static const char prefix[RG_TYPE_COUNT] = {[RG_TYPE_FLOAT] = 's',
                                             [RG_TYPE_DOUBLE] = 'd',
                                             [RG_TYPE_FLOAT_COMPLEX] = 'c',
                                             [RG_TYPE_DOUBLE_COMPLEX] = 'z'};
  char symbol[32];
  int hermitian = rgi_type_is_complex(type) && strncmp(name, "sy", 2) == 0;
  snprintf(symbol, sizeof symbol, "%s%c%s%s_", several ? "p" : "", prefix[type],
           hermitian ? "he" : "", hermitian ? name + 2 : name);
  return find_symbol(several ? &scalapack : &lapack, symbol);
}

rgi_routine *rgi_routine_blacs(const char *name) {
  return find_symbol(&scalapack, name);
}

int rg_linalg_libraries(const char **lapack_name, const char **scalapack_name) {
  RGI_REQUIRE(lapack_name);
  RGI_REQUIRE(scalapack_name);
  *lapack_name = rgi_routine_load_lapack() ? NULL : lapack.name;
  *scalapack_name = rgi_routine_load_scalapack() ? NULL : scalapack.name;
  return RG_SUCCESS;
}
