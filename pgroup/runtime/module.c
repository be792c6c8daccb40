/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "runtime/module.h"

#include "base/error.h"

static struct {
  rgi_module *first;
  int use;
} modules;

void rgi_module_register(rgi_module *e) {
  rgi_module **at = &modules.first;
  while (*at && !e->first)
    at = &(*at)->next;
  e->next = *at;
  *at = e;
}

/* Their order is the linker's: it does not count. */
int rgi_modules_mark(void) {
  unsigned sum = 0;
  for (rgi_module *e = modules.first; e; e = e->next) {
    unsigned hash = 2166136261u;
    for (const char *c = e->name; *c; c++)
      hash = (hash ^ (unsigned char)*c) * 16777619u;
    sum += hash >> 8;
  }
  return (int)(sum & 0x3fffffff);
}

void rgi_modules_use(int use) {
  modules.use = use;
}

size_t rgi_modules_heap(void) {
  size_t bytes = 0;
  for (rgi_module *e = modules.first; e && modules.use; e = e->next)
    bytes += e->heap ? e->heap() : 0;
  return bytes;
}

int rgi_modules_open(void) {
  for (rgi_module *e = modules.first; e; e = e->next) {
    int error = e->first || modules.use ? e->open() : RG_SUCCESS;
    if (error) {
      rgi_modules_close(1);
      return error;
    }
    e->opened = 1;
  }
  return RG_SUCCESS;
}

static void close_all(int mpi, int first) {
  for (rgi_module *e = modules.first; e; e = e->next) {
    if (e->first != first)
      continue;
    if (e->opened)
      e->close(mpi);
    e->opened = 0;
  }
}

void rgi_modules_close(int mpi) {
  close_all(mpi, 0);
  close_all(mpi, 1);
}
