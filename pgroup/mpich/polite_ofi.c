/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Polite waiting inside MPI over libfabric (MPICH, ch4:ofi).
 *
 * MPICH polls a completion queue through the queue's table of functions, which the provider has
 * filled. Providers that count or trace calls exchange such a table for one of theirs, on the
 * objects on the way to the queue: the fabric, its domains, their queues. So does this file, from
 * fi_fabric on, which it is looked up for before libfabric.
 *
 * MPICH moves messages inside a node itself, between two polls. They are not seen here, so a poll
 * in vain is no sign that nothing comes: rgi_polite_unseen yields the processor and never sleeps. A
 * row of them without a gap for RG_PATIENCE is taken for a wait all the same.
 *
 * The first members of libfabric's objects and tables are part of its binary interface. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mpich/polite.h"
#include "mpich/polite_next.h"

#define EXPORT __attribute__((visibility("default")))

#define NOTHING_READ (-11) /* libfabric's -FI_EAGAIN */

typedef void any_fn(void);

typedef struct {
  size_t size; /* of the table, in bytes */
  any_fn *functions[];
} op_table;

/* A fabric, a domain or a queue. */
typedef struct {
  size_t class;
  void *context;
  void *common; /* functions of all objects */
  op_table *own;
} object;

/* A copy of a provider's table in which one function is ours. */
typedef struct {
  any_fn *real;
  op_table copy;
} exchanged;

/* Where the functions are in the tables. */
enum { FABRIC_DOMAIN = 0, DOMAIN_QUEUE = 1, QUEUE_READ = 0 };

typedef int fabric_fn(void *attributes, object **fabric, void *context);
typedef int domain_fn(object *fabric, void *info, object **domain, void *context);
typedef int queue_fn(object *domain, void *attributes, object **queue, void *context);
typedef intptr_t read_fn(object *queue, void *buffer, size_t count);

EXPORT int fi_fabric(void *attributes, object **fabric, void *context);

/* Above 0: a provider runs, which may open objects of another provider for itself. */
static RGI_MPICH_THREAD int inside;

/* Without memory the table stays as it is. */
static void put_in_front(object *object, int which, any_fn *ours) {
  exchanged *e = malloc(offsetof(exchanged, copy) + object->own->size);
  if (!e)
    return;
  e->real = object->own->functions[which];
  memcpy(&e->copy, object->own, object->own->size);
  e->copy.functions[which] = ours;
  object->own = &e->copy;
}

static any_fn *real_of(const object *object) {
  return ((exchanged *)((char *)object->own - offsetof(exchanged, copy)))->real;
}

/* After the provider has made a new object: whether it is MPI's. */
static int is_outermost(int error) {
  return --inside == 0 && !error;
}

static intptr_t read_queue(object *queue, void *buffer, size_t count) {
  intptr_t got = ((read_fn *)real_of(queue))(queue, buffer, count);
  rgi_polite_unseen(got != NOTHING_READ);
  return got;
}

static int open_queue(object *domain, void *attributes, object **queue, void *context) {
  inside++;
  int error = ((queue_fn *)real_of(domain))(domain, attributes, queue, context);
  if (is_outermost(error))
    put_in_front(*queue, QUEUE_READ, (any_fn *)read_queue);
  return error;
}

static int open_domain(object *fabric, void *info, object **domain, void *context) {
  inside++;
  int error = ((domain_fn *)real_of(fabric))(fabric, info, domain, context);
  if (is_outermost(error))
    put_in_front(*domain, DOMAIN_QUEUE, (any_fn *)open_queue);
  return error;
}

int fi_fabric(void *attributes, object **fabric, void *context) {
  fabric_fn *next = (fabric_fn *)rgi_polite_next("fi_fabric");
  if (!next)
    return -38; /* -FI_ENOSYS */
  inside++;
  int error = next(attributes, fabric, context);
  if (is_outermost(error) && rgi_polite_expect_unseen())
    put_in_front(*fabric, FABRIC_DOMAIN, (any_fn *)open_domain);
  return error;
}
