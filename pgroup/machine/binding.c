/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Pretended bindings: "compact", "scatter", or a list with a part for each process of the node, in
 * their order, which starts again when it is shorter than the node's processes are many. */
#include "machine/machine.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static void add_thread(hwloc_topology_t topology, int number, hwloc_bitmap_t set) {
  hwloc_obj_t pu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, (unsigned)number);
  hwloc_bitmap_or(set, set, pu->cpuset);
}

/* Reads a number below `limit` and moves on; -1 if there is none. */
static int read_number(const char **text, int limit) {
  char *end;
  if (!isdigit((unsigned char)**text))
    return -1;
  long x = strtol(*text, &end, 10);
  *text = end;
  return x < limit ? (int)x : -1;
}

/* One process's part of a list, as "0,4-7". Returns 0 if it is wrong. */
static int read_threads(hwloc_topology_t topology, const char *text, size_t length,
                        hwloc_bitmap_t set) {
  const char *end = text + length;
  int threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
  while (text < end) {
    int first = read_number(&text, threads), last = first;
    if (first >= 0 && *text == '-') {
      text++;
      last = read_number(&text, threads);
    }
    if (first < 0 || last < first || text > end || (text < end && *text != ','))
      return 0;
    for (int i = first; i <= last; i++)
      add_thread(topology, i, set);
    if (text < end && ++text == end)
      return 0;
  }
  return length > 0;
}

/* Checks the whole list, so that all processes find the same fault. */
static int from_list(const rgi_machine *machine, const char *list, int i, hwloc_bitmap_t set) {
  int parts = 1, at = 0, good = 1;
  hwloc_bitmap_t part = hwloc_bitmap_alloc();
  for (const char *c = list; *c; c++)
    parts += *c == ';';
  for (const char *text = list; good && at < parts; at++) {
    size_t length = strcspn(text, ";");
    hwloc_bitmap_zero(part);
    if (length == strlen("none") && strncmp(text, "none", length) == 0)
      hwloc_bitmap_copy(part, hwloc_topology_get_allowed_cpuset(machine->topology));
    else
      good = read_threads(machine->topology, text, length, part);
    if (at == i % parts)
      hwloc_bitmap_copy(set, part);
    text += length + (text[length] == ';');
  }
  hwloc_bitmap_free(part);
  return good;
}

int rgi_machine_bind_pretended(const char *call, const rgi_machine *machine, const char *how,
                               rgi_machine_process process, hwloc_bitmap_t set) {
  int threads = hwloc_get_nbobjs_by_type(machine->topology, HWLOC_OBJ_PU);
  hwloc_bitmap_zero(set);
  if (strcmp(how, "compact") == 0 || (strcmp(how, "scatter") == 0 && process.count > threads))
    add_thread(machine->topology, process.index % threads, set);
  else if (strcmp(how, "scatter") == 0)
    add_thread(machine->topology, (int)((long)process.index * threads / process.count), set);
  else if (!from_list(machine, how, process.index, set))
    return rgi_error(RG_ERR_OPTION,
                     "%s: the binding \"%.200s\" is neither compact, scatter, none nor a list like "
                     "\"0,1;2-3;none\" of the threads 0 to %d",
                     call, how, threads - 1);
  return RG_SUCCESS;
}
