/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "runtime/extension.h"

#include "base/error.h"

static struct {
  rgi_extension *first;
  int use;
} extensions;

void rgi_extend(rgi_extension *e) {
  rgi_extension **at = &extensions.first;
  while (*at && !e->first)
    at = &(*at)->next;
  e->next = *at;
  *at = e;
}

/* Their order is the linker's: it does not count. */
int rgi_extensions_mark(void) {
  unsigned sum = 0;
  for (rgi_extension *e = extensions.first; e; e = e->next) {
    unsigned hash = 2166136261u;
    for (const char *c = e->name; *c; c++)
      hash = (hash ^ (unsigned char)*c) * 16777619u;
    sum += hash >> 8;
  }
  return (int)(sum & 0x3fffffff);
}

void rgi_extensions_use(int use) {
  extensions.use = use;
}

size_t rgi_extensions_annex(void) {
  size_t bytes = 0;
  for (rgi_extension *e = extensions.first; e && extensions.use; e = e->next)
    bytes += e->annex ? e->annex() : 0;
  return bytes;
}

int rgi_extensions_open(void) {
  for (rgi_extension *e = extensions.first; e; e = e->next) {
    int error = e->first || extensions.use ? e->open() : RG_SUCCESS;
    if (error) {
      rgi_extensions_close(1);
      return error;
    }
    e->opened = 1;
  }
  return RG_SUCCESS;
}

static void close_all(int mpi, int first) {
  for (rgi_extension *e = extensions.first; e; e = e->next) {
    if (e->first != first)
      continue;
    if (e->opened)
      e->close(mpi);
    e->opened = 0;
  }
}

void rgi_extensions_close(int mpi) {
  close_all(mpi, 0);
  close_all(mpi, 1);
}
