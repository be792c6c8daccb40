/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Libraries above this one that start and stop with it. Each registers itself
 * before main (a constructor), so that it is there if it is linked. */
#ifndef RGI_MODULE_H
#define RGI_MODULE_H

#include <stddef.h>

typedef struct rgi_module {
  const char *name;
  /* Opened before the others, and closed after them. */
  int first;
  /* Bytes of the arena's heap (arena.h) for each process of this node, asked for
   * when the nodes are known; or NULL. */
  size_t (*heap)(void);
  /* By rg_init, collective over the world, when all of the runtime is there. The
   * same error on all processes. */
  int (*open)(void);
  /* By the last rg_finalize, collective over the world, while MPI runs (mpi = 1);
   * or local, when MPI is finalised already. Only after an open that succeeded. */
  void (*close)(int mpi);
  /* The rest is extension.c's own. */
  int opened;
  struct rgi_module *next;
} rgi_module;

/* Before main. e stays for good. */
void rgi_module_register(rgi_module *e);

/* A number that is equal on processes that have the same extensions. */
int rgi_modules_mark(void);

/* Whether those that are not first are opened at the next start: not where processes differ. */
void rgi_modules_use(int use);

/* Bytes of heap for each process. */
size_t rgi_modules_heap(void);

int rgi_modules_open(void);
void rgi_modules_close(int mpi);

#endif
