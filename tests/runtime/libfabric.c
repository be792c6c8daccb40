/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Three parts for test_libfabric.py: with PROVIDER a library in libfabric's place, each object of
 * which has another of its own, as providers that use another provider have; with POLLER a library
 * that polls as MPICH does; otherwise a program: "libfabric N" polls N times in vain. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct object object;
typedef int open_fn(object *, void *, object **, void *);
typedef intptr_t read_fn(object *, void *, size_t);

typedef struct {
  size_t size;
  void *functions[3];
} table;

struct object {
  size_t class;
  void *context, *common;
  const table *own;
  object *inner;
};

int fi_fabric(void *attributes, object **fabric, void *context);
int poll_in_vain(int times);

#ifdef PROVIDER

#define OUTER 1
#define INNER 2

static object *new_object(size_t class, const table *own) {
  object *o = calloc(1, sizeof *o);
  o->class = class;
  o->own = own;
  return o;
}

static intptr_t read_queue(object *queue, void *buffer, size_t count) {
  intptr_t *left = buffer;
  if (queue->class == OUTER)
    return ((read_fn *)queue->inner->own->functions[0])(queue->inner, buffer, count);
  return (*left)-- > 0 ? -11 : (intptr_t)count;
}

static int open_queue(object *domain, void *attributes, object **queue, void *context) {
  static const table own = {sizeof own, {read_queue}};
  *queue = new_object(domain->class, &own);
  return domain->class == INNER ? 0
                                : ((open_fn *)domain->inner->own->functions[1])(
                                      domain->inner, attributes, &(*queue)->inner, context);
}

static int open_domain(object *fabric, void *info, object **domain, void *context) {
  static const table own = {sizeof own, {NULL, open_queue, NULL}};
  *domain = new_object(fabric->class, &own);
  return fabric->class == INNER ? 0
                                : ((open_fn *)fabric->inner->own->functions[0])(
                                      fabric->inner, info, &(*domain)->inner, context);
}

int fi_fabric(void *attributes, object **fabric, void *context) {
  static const table own = {sizeof own, {open_domain, NULL, NULL}};
  static size_t made = OUTER;
  *fabric = new_object(made++, &own);
  return (*fabric)->class == INNER ? 0 : fi_fabric(attributes, &(*fabric)->inner, context);
}

#elif defined POLLER

int poll_in_vain(int times) {
  object *fabric, *domain, *queue;
  intptr_t left = times, read = 0;
  int64_t polls = -1, yields = -1, sleeps = -1;
  int active = -1;
  if (fi_fabric(NULL, &fabric, NULL) ||
      ((open_fn *)fabric->own->functions[0])(fabric, NULL, &domain, NULL) ||
      ((open_fn *)domain->own->functions[1])(domain, NULL, &queue, NULL))
    return 1;
  while (read <= 0)
    read = ((read_fn *)queue->own->functions[0])(queue, &left, 1);
  int (*counts)(int64_t *, int64_t *, int64_t *) = dlsym(RTLD_DEFAULT, "rg_polite_counts");
  int (*get)(int *) = dlsym(RTLD_DEFAULT, "rg_polite_active");
  if (!counts || !get || counts(&polls, &yields, &sleeps) || get(&active))
    return 1;
  printf("read %d polls %d yields %d sleeps %d active %d\n", (int)read, (int)polls, (int)yields,
         (int)sleeps, active);
  return 0;
}

#else

int main(int argc, char **argv) {
  return poll_in_vain(argc > 1 ? atoi(argv[1]) : 0);
}

#endif
