/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Libraries above this one that start and stop with it. Each registers itself
 * before main (a constructor), so that it is there if it is linked. */
#ifndef RGI_EXTENSION_H
#define RGI_EXTENSION_H

#include <stddef.h>

typedef struct rgi_extension {
  const char *name;
  /* Opened before the others, and closed after them. */
  int first;
  /* Bytes of the arena's annex (arena.h) for each process of this node, asked for
   * when the nodes are known; or NULL. */
  size_t (*annex)(void);
  /* By rg_init, collective over the world, when all of the runtime is there. The
   * same error on all processes. */
  int (*open)(void);
  /* By the last rg_finalize, collective over the world, while MPI runs (mpi = 1);
   * or local, when MPI is finalised already. Only after an open that succeeded. */
  void (*close)(int mpi);
  /* The rest is extension.c's own. */
  int opened;
  struct rgi_extension *next;
} rgi_extension;

/* Before main. e stays for good. */
void rgi_extend(rgi_extension *e);

/* A number that is equal on processes that have the same extensions. */
int rgi_extensions_mark(void);

/* Whether those that are not first are opened at the next start: not where processes differ. */
void rgi_extensions_use(int use);

/* Bytes of annex for each process. */
size_t rgi_extensions_annex(void);

int rgi_extensions_open(void);
void rgi_extensions_close(int mpi);

#endif
