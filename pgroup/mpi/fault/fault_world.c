/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The library that is to be preloaded stands beside this one, with the same version in its name. */
#include "mpi/fault/fault_world.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/option_table.h"

static MPI_Comm *find_world(void) {
  return dlsym(RTLD_DEFAULT, "rgi_world_comm");
}

/* libregroup-mpi.so.0.9 as libregroup-world.so.0.9, before what is preloaded already. */
static int set_preloads(void) {
  static const char name[] = "libregroup-mpi", other[] = "libregroup-world";
  char list[2 * PATH_MAX];
  const char *before = getenv("LD_PRELOAD");
  Dl_info own;
  if ((before && strstr(before, other)) || !dladdr((const void *)find_world, &own))
    return 0;
  const char *slash = strrchr(own.dli_fname, '/'), *file = slash ? slash + 1 : own.dli_fname;
  if (strncmp(file, name, strlen(name)) != 0)
    return 0;
  int length =
      snprintf(list, sizeof list, "%.*s%s%s%s%s", (int)(file - own.dli_fname), own.dli_fname, other,
               file + strlen(name), before ? ":" : "", before ? before : "");
  return length < (int)sizeof list && setenv("LD_PRELOAD", list, 1) == 0;
}

/* The arguments of this process: words, NULL at the end. */
static char **read_arguments(void) {
  char *text = NULL, **words = NULL;
  size_t room = 0, n = 0;
  FILE *file = fopen("/proc/self/cmdline", "re");
  ssize_t length = file ? getdelim(&text, &room, EOF, file) : -1;
  if (file)
    fclose(file);
  if (length > 0)
    words = calloc((size_t)length + 1, sizeof *words);
  for (char *word = text; words && word < text + length; word += strlen(word) + 1)
    words[n++] = word;
  return words; /* the text is theirs */
}

void rgi_fault_world_preload(void) {
  char program[PATH_MAX];
  if (atoi(rgi_option_text(RGI_OPT_RESERVE)) < 1 || find_world())
    return;
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  char **words = read_arguments();
  if (length < 1 || !words || !set_preloads())
    return;
  program[length] = '\0';
  execv(program, words);
}

int rgi_fault_world_set(MPI_Comm comm) {
  MPI_Comm *world = find_world();
  if (!world)
    return rgi_error(RG_ERR_UNSUPPORTED,
                     "RG_RESERVE: libregroup-world.so is not beside libregroup-mpi.so");
  *world = comm;
  return RG_SUCCESS;
}

MPI_Comm rgi_fault_world_now(void) {
  const MPI_Comm *world = find_world();
  return world ? *world : MPI_COMM_WORLD;
}
