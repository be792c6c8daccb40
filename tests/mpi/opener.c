/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * For test_opened.py: opener MODULE [own] has no MPI, and opens a module that has, for itself
 * alone. own: it passes the module MPI_Init of MPI's library, as an interpreter's foreign calls do.
 */
#include <dlfcn.h>
#include <stdio.h>

typedef int init_fn(int *, char ***);

int main(int argc, char **argv) {
  void *module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  int (*run)(init_fn *) = NULL;
  init_fn *init = NULL;
  if (!module)
    return fprintf(stderr, "%s\n", dlerror()), 2;
  *(void **)&run = dlsym(module, "run");
  if (argc > 2)
    *(void **)&init = dlsym(module, "MPI_Init");
  return run ? run(init) : 3;
}
