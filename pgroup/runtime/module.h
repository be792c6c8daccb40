/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Modules: rooms and libraries above the runtime that start and stop with it. Each registers
 * itself before main (a constructor), so that it takes part exactly if it is linked. */
#ifndef RGI_MODULE_H
#define RGI_MODULE_H

#include <stddef.h>

/* Modules are opened in this order and closed in the opposite one. */
typedef enum {
  RGI_MODULE_BASIC, /* opened at each start; the others only where all processes have the same */
  RGI_MODULE_TRANSPORT, /* moves data between nodes for modules of the next stage */
  RGI_MODULE_OBJECTS
} rgi_module_stage;

typedef struct rgi_module {
  const char *name;
  rgi_module_stage stage;
  /* Bytes of the arena's heap (arena.h) for each process of this node, asked for
   * when the nodes are known; or NULL. */
  size_t (*heap)(void);
  /* By rg_init, collective over the world, when all of the runtime is there; or NULL. The
   * same error on all processes. */
  int (*open)(void);
  /* By the last rg_finalize, collective over the world, while MPI runs (mpi = 1);
   * or local (mpi = 0), when MPI is finalised already or a process has died. Only after an open
   * that succeeded. */
  void (*close)(int mpi);
  /* The rest is module.c's own. */
  int opened;
  struct rgi_module *next;
} rgi_module;

/* Before main. m stays for good. */
void rgi_module_register(rgi_module *module);

/* A number that is equal on processes that have the same modules. */
int rgi_modules_mark(void);

/* Whether those above RGI_MODULE_BASIC are opened at the next start: not where processes differ. */
void rgi_modules_use(int use);

/* Bytes of heap for each process. */
size_t rgi_modules_heap(void);

/* At an error those that were opened are closed again. */
int rgi_modules_open(void);
void rgi_modules_close(int mpi);

#endif
