/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The functions of MPI's library and of its transport behind this library. A program that opens
 * MPI's library for itself alone (RTLD_LOCAL), as an interpreter does, keeps it out of the reach of
 * RTLD_NEXT, and of this library's own calls of MPI. Then it is opened once more, for all. */
#include "mpich/polite_next.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

static int defines(const struct link_map *object, void *opened, const char *name) {
  Dl_info info;
  void *found = dlsym(opened, name);
  return found && dladdr(found, &info) && (ElfW(Addr))info.dli_fbase == object->l_addr;
}

static void open_for_all(const struct link_map *object, const char *name) {
  void *opened = object->l_name[0] ? dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  if (!opened)
    return;
  if (defines(object, opened, name) || defines(object, opened, "PMPI_Init"))
    dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL); /* and stays, as it would */
  dlclose(opened);
}

void *rgi_polite_next(const char *name) {
  void *found = dlsym(RTLD_NEXT, name), *all = found ? NULL : dlopen(NULL, RTLD_LAZY);
  struct link_map *at = NULL;
  if (!all || dlinfo(all, RTLD_DI_LINKMAP, &at) != 0)
    return found;
  for (; at; at = at->l_next)
    open_for_all(at, name);
  return dlsym(RTLD_NEXT, name);
}
