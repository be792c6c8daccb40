/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A machine as hwloc sees it, real or pretended, and places in it. */
#ifndef RGI_MACHINE_H
#define RGI_MACHINE_H

#include <hwloc.h>
#include <stdint.h>

/* A resource: equal members mean the same one, as long as the machine is the
 * same. */
typedef struct {
  int16_t type; /* hwloc_obj_type_t */
  int16_t depth;
  int32_t index; /* logical, within its depth */
} rgi_machine_resource;

/* The longest chain of resources that contain one another. */
#define RGI_CHAIN 32

/* Where a process is. Sent between processes as bytes. */
typedef struct {
  uint64_t machine; /* a fingerprint: equal for processes that see the same one */
  int32_t rank;     /* in the communicator in question */
  int32_t length;
  rgi_machine_resource chain[RGI_CHAIN]; /* from the whole machine down */
} rgi_machine_place;

typedef struct {
  hwloc_topology_t topology;
  uint64_t fingerprint;
} rgi_machine;

/* description: as RG_TOPOLOGY; NULL or "": what hwloc finds by itself.
 * RG_ERR_OPTION (it cannot be understood), RG_ERR_SYSTEM. */
int rgi_machine_open(const char *call, const char *description, rgi_machine *m);
void rgi_machine_close(rgi_machine *m);

/* The processors that local process `i` of `n` on the node pretends to be bound
 * to; how: as RG_BIND. RG_ERR_OPTION. */
int rgi_machine_pretend_binding(const char *call, const rgi_machine *m, const char *how, int i,
                                int n, hwloc_bitmap_t set);

/* The place of a process that is bound to these processors. */
void rgi_machine_place_of(const rgi_machine *m, hwloc_const_bitmap_t set, rgi_machine_place *place);

/* A resource's type by name ("L3Cache"), and its class: RG_LEVEL_... */
const char *rgi_machine_resource_type(const rgi_machine_resource *r);
int rgi_machine_resource_class(const rgi_machine_resource *r);

/* The place of this process, as RG_TOPOLOGY and RG_BIND say or as it is. Loads
 * the machine at the first call; any thread. place->rank is left alone. */
int rgi_machine_my_place(const char *call, rgi_machine_place *place);

/* Forgets the machine, so that the next call loads it anew. */
void rgi_machine_forget(void);

#endif
