/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Loading a machine by hwloc, and reading a place from it. A place is the chain of resources that
 * contain the process's processors, from the whole machine down; memory, which hwloc hangs beside
 * the tree, is put into the chain behind the resource that it is attached to. A fingerprint of all
 * resources tells processes that see different machines from each other. */
#include "machine/machine.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <regroup/topology.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

static int is_file(const char *description) {
  size_t n = strlen(description);
  return (n > 4 && strcmp(description + n - 4, ".xml") == 0) || access(description, R_OK) == 0;
}

/* The time to load grows with the square of the threads: 16,384 take most of a minute. */
enum { THREADS_MOST = 4096 };

/* The product of the counts in "pack:2 [numa(memory=8)] l3:1 4 pu:0x2", read as hwloc does. */
static double threads_of(const char *description) {
  double threads = 1;
  int inside = 0, named = 0; /* the number belongs to a name, as in l3 */
  for (const char *c = description; *c;) {
    if (isdigit((unsigned char)*c)) {
      char *end;
      double count = (double)strtoul(c, &end, 0);
      threads *= inside > 0 || named ? 1 : fmax(1, count);
      c = end;
      continue;
    }
    inside += (*c == '[' || *c == '(') - (*c == ']' || *c == ')');
    named = isalpha((unsigned char)*c++) != 0;
  }
  return threads;
}

/* The version of hwloc's format that an XML file names; "": none. */
static void read_version(const char *file, char version[16]) {
  char text[1024] = "";
  FILE *f = fopen(file, "r");
  const char *at =
      f && fread(text, 1, sizeof text - 1, f) ? strstr(text, "<topology version=\"") : NULL;
  if (f)
    fclose(f);
  version[0] = 0;
  if (at)
    sscanf(at, "<topology version=\"%15[0-9.]", version);
}

/* hwloc reads the environment's file by itself where no description is given. */
static int cannot_load(const char *call, const char *description) {
  int number = errno, given = description && *description;
  const char *file = given ? description : getenv("HWLOC_XMLFILE");
  unsigned api = hwloc_get_api_version(), major = api >> 16, minor = api >> 8 & 255;
  int code = given ? RG_ERR_OPTION : RG_ERR_SYSTEM;
  char version[16] = "";
  if (!file)
    return rgi_error(code, "%s: hwloc_topology_load: %s", call, strerror(number));
  read_version(file, version);
  if (atoi(version) > (int)major)
    return rgi_error(code,
                     "%s: the machine %.200s is in version %s of hwloc's format; hwloc %u.%u "
                     "does not read it",
                     call, file, version, major, minor);
  return rgi_error(code, "%s: hwloc %u.%u cannot load the machine %.200s: %s", call, major, minor,
                   file, strerror(number));
}

static int describe_machine(const char *call, hwloc_topology_t topology, const char *description) {
  if (!description || !*description)
    return RG_SUCCESS;
  if (!is_file(description) && threads_of(description) > THREADS_MOST)
    return rgi_error(RG_ERR_OPTION, "%s: the machine \"%.200s\" has more than %d threads", call,
                     description, THREADS_MOST);
  if (!is_file(description))
    return hwloc_topology_set_synthetic(topology, description) == 0
               ? RG_SUCCESS
               : rgi_error(RG_ERR_OPTION,
                           "%s: the machine \"%.200s\" is neither a file that can be read nor a "
                           "description like \"pack:2 core:4 pu:1\"",
                           call, description);
  return hwloc_topology_set_xml(topology, description) == 0
             ? RG_SUCCESS
             : rgi_error(RG_ERR_OPTION,
                         "%s: the machine %.200s cannot be read: expected a file of lstopo's", call,
                         description);
}

static void mix_hash(uint64_t *h, long x) {
  *h = (*h ^ (uint64_t)x) * 0x100000001b3u; /* FNV-1a over words */
  *h ^= *h >> 29;
}

/* Of the kinds, numbers and processors of everything that can be in a chain. */
static uint64_t fingerprint_of(hwloc_topology_t topology) {
  uint64_t h = 0xcbf29ce484222325u;
  int deepest = hwloc_topology_get_depth(topology);
  for (int d = -1; d < deepest; d++) {
    int depth = d < 0 ? HWLOC_TYPE_DEPTH_NUMANODE : d;
    mix_hash(&h, hwloc_get_depth_type(topology, depth));
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_depth(topology, depth, o));) {
      mix_hash(&h, hwloc_bitmap_first(o->cpuset));
      mix_hash(&h, hwloc_bitmap_weight(o->cpuset));
    }
  }
  return h;
}

/* Resources that this process may not use are kept: so all processes of a node number the resources
 * alike, whichever processors each may use. */
int rgi_machine_open(const char *call, const char *description, rgi_machine *machine) {
  hwloc_topology_t t;
  if (hwloc_topology_init(&t) != 0)
    return rgi_error(RG_ERR_SYSTEM, "%s: hwloc_topology_init: %s", call, strerror(errno));
  int error = describe_machine(call, t, description);
  if (!error && (hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0 ||
                 hwloc_topology_load(t) != 0))
    error = cannot_load(call, description);
  /* Each normal depth may bring a memory node with it. */
  if (!error && 2 * hwloc_topology_get_depth(t) > RGI_CHAIN)
    error = rgi_error(RG_ERR_OPTION, "%s: the machine has %d depths; at most %d can be handled",
                      call, hwloc_topology_get_depth(t), RGI_CHAIN / 2);
  if (error) {
    hwloc_topology_destroy(t);
    return error;
  }
  *machine = (rgi_machine){t, fingerprint_of(t)};
  return RG_SUCCESS;
}

void rgi_machine_close(rgi_machine *machine) {
  hwloc_topology_destroy(machine->topology);
  machine->topology = NULL;
}

static void add_resource(rgi_machine_place *place, hwloc_obj_t o) {
  place->chain[place->length++] =
      (rgi_machine_resource){(int16_t)o->type, (int16_t)o->depth, (int32_t)o->logical_index};
}

/* Of several kinds of memory at one resource (fast and large) the first stands for all: the same
 * processes share them. */
static void add_memory(rgi_machine_place *place, hwloc_obj_t parent) {
  hwloc_obj_t o = parent->memory_first_child;
  while (o && o->type != HWLOC_OBJ_NUMANODE)
    o = o->memory_first_child;
  if (o)
    add_resource(place, o);
}

void rgi_machine_place_of(const rgi_machine *machine, hwloc_const_bitmap_t set,
                          rgi_machine_place *place) {
  place->machine = machine->fingerprint;
  place->length = 0;
  for (hwloc_obj_t o = hwloc_get_root_obj(machine->topology); o;
       o = hwloc_get_child_covering_cpuset(machine->topology, set, o)) {
    add_resource(place, o);
    add_memory(place, o);
  }
}

const char *rgi_machine_resource_type(const rgi_machine_resource *resource) {
  return hwloc_obj_type_string((hwloc_obj_type_t)resource->type);
}

int rgi_machine_resource_class(const rgi_machine_resource *resource) {
  switch (resource->type) {
  case HWLOC_OBJ_MACHINE:
    return RG_LEVEL_NETWORK;
  case HWLOC_OBJ_PACKAGE:
  case HWLOC_OBJ_DIE:
  case HWLOC_OBJ_CORE:
  case HWLOC_OBJ_PU:
    return RG_LEVEL_COMPUTE;
  case HWLOC_OBJ_GROUP:
    return RG_LEVEL_COMPUTE | RG_LEVEL_MEMORY;
  default:
    return RG_LEVEL_MEMORY;
  }
}
