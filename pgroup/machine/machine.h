/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A machine as hwloc describes it, real or pretended, and the places of processes in it. */
#ifndef RGI_MACHINE_H
#define RGI_MACHINE_H

#include <hwloc.h>
#include <stdint.h>

/* A resource. On one machine equal members mean the same resource. */
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

/* description: as RG_TOPOLOGY; NULL or "": the machine that the process runs on.
 * RG_ERR_OPTION (the description is wrong), RG_ERR_SYSTEM. */
int rgi_machine_open(const char *call, const char *description, rgi_machine *machine);
void rgi_machine_close(rgi_machine *machine);

/* The place of a process that is bound to these processors. */
void rgi_machine_place_of(const rgi_machine *machine, hwloc_const_bitmap_t set,
                          rgi_machine_place *place);

/* The name of a resource's type ("L3Cache"), and its class: RG_LEVEL_... */
const char *rgi_machine_resource_type(const rgi_machine_resource *resource);
int rgi_machine_resource_class(const rgi_machine_resource *resource);

/* A process among those of its node. */
typedef struct {
  int index, count;
} rgi_machine_process;

/* The processors that the process pretends to be bound to; how: as RG_BIND. RG_ERR_OPTION. */
int rgi_machine_bind_pretended(const char *call, const rgi_machine *machine, const char *how,
                               rgi_machine_process process, hwloc_bitmap_t set);

/* --- this process: machine_process.c ---------------------------------------------------------- */

/* The machine that the process runs on, and its own place there. */

/* The place of this process, real or as RG_TOPOLOGY and RG_BIND say. Loads
 * the machine at the first call; any thread. place->rank is not set. */
int rgi_machine_my_place(const char *call, rgi_machine_place *place);

/* A type of resource by hwloc's name for it, in any case. RG_ERR_ARG: there is none of that name,
 * or processors are no part of it; the text lists the types of this machine. */
int rgi_machine_find_type(const char *call, const char *name, hwloc_obj_type_t *type);

/* Whether the process may not use all of the machine's processors that the job may; also where that
 * cannot be told. How processes are bound, for a line about one that is not. */
int rgi_machine_is_bound(const char *call);
#define RGI_MACHINE_HOW_TO_BIND "mpiexec -bind-to core and srun --cpu-bind=cores bind it"

/* A line at info level for a process that has found no level below a communicator, once, if it is
 * not bound; and for one that has found none of a type. */
void rgi_machine_tell_unbound(const char *call);
void rgi_machine_tell_without(const char *call, hwloc_obj_type_t type);

/* By each process alone, in rg_init: looks at RG_TOPOLOGY and RG_BIND anew. RG_ERR_OPTION, and the
 * errors of rgi_machine_open. */
int rgi_machine_check_options(const char *call);

/* Whether RG_TOPOLOGY says what the machine is. */
int rgi_machine_is_pretended(void);

/* Whether the machine may have more than one memory node; without loading it. */
int rgi_machine_has_memory_nodes(void);

/* Binds pages without memory to a memory node, as far as the system can; negative: to none. On a
 * pretended machine nothing is bound. Any thread. */
void rgi_machine_bind_memory(void *at, size_t bytes, int node);

/* Unloads the machine; the next call of rgi_machine_my_place loads it again. */
void rgi_machine_forget(void);

#endif
