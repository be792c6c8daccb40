/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The modules are a list in the order of opening. Constructors run in the order of linking, so
 * each module says at which stage it is opened; modules of one stage do not depend on each other.
 * Processes may be different programs, linked with different modules: they compare a mark of their
 * modules' names when the library starts. */
#include "runtime/module.h"

#include "base/error.h"

static struct {
  rgi_module *first;
  int use;
} modules;

void rgi_module_register(rgi_module *module) {
  rgi_module **at = &modules.first;
  while (*at && (*at)->stage <= module->stage)
    at = &(*at)->next;
  module->next = *at;
  *at = module;
}

/* A sum, so that the order of linking does not matter. */
int rgi_modules_mark(void) {
  unsigned sum = 0;
  for (rgi_module *module = modules.first; module; module = module->next) {
    unsigned hash = 2166136261u;
    for (const char *c = module->name; *c; c++)
      hash = (hash ^ (unsigned char)*c) * 16777619u;
    sum += hash >> 8;
  }
  return (int)(sum & 0x3fffffff);
}

void rgi_modules_use(int use) {
  modules.use = use;
}

static int is_used(const rgi_module *module) {
  return modules.use || module->stage == RGI_MODULE_BASIC;
}

size_t rgi_modules_heap(void) {
  size_t bytes = 0;
  for (rgi_module *module = modules.first; module; module = module->next)
    bytes += is_used(module) && module->heap ? module->heap() : 0;
  return bytes;
}

int rgi_modules_open(void) {
  for (rgi_module *module = modules.first; module; module = module->next) {
    int error = is_used(module) && module->open ? module->open() : RG_SUCCESS;
    if (error) {
      rgi_modules_close(1);
      return error;
    }
    module->opened = is_used(module);
  }
  return RG_SUCCESS;
}

static void close_from(rgi_module *module, int mpi) {
  if (!module)
    return;
  close_from(module->next, mpi);
  if (module->opened)
    module->close(mpi);
  module->opened = 0;
}

void rgi_modules_close(int mpi) {
  close_from(modules.first, mpi);
}
