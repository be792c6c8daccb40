/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The machine is loaded by the first call that needs it and kept, under a lock. The place follows
 * from the processors that the process is bound to, by hwloc or by RG_BIND. */

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/launcher.h"
#include "base/log.h"
#include "base/option_table.h"
#include "machine/machine.h"

#define TYPES 256

static struct {
  pthread_mutex_t lock;
  int loaded;
  rgi_machine machine;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The first of these variables that is set, as a number. */
static int number_of(const char *const names[], int otherwise) {
  for (; *names; names++) {
    const char *text = getenv(*names);
    if (text && *text)
      return atoi(text);
  }
  return otherwise;
}

/* The process's number among those of its node, and how many they are, as the launcher's variables
 * say: asking MPI would be collective. */
static rgi_machine_process find_local(void) {
  static const char *const ranks[] = {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK",
                                      "SLURM_LOCALID", NULL};
  rgi_machine_process p;
  int count = rgi_launcher_local_ranks();
  MPI_Comm_rank(MPI_COMM_WORLD, &p.index);
  MPI_Comm_size(MPI_COMM_WORLD, &p.count);
  p.index = number_of(ranks, p.index);
  p.count = count > 0 ? count : p.count;
  if (p.index < 0 || p.count <= p.index) {
    p.index = p.index < 0 ? 0 : p.index;
    p.count = p.index + 1;
  }
  return p;
}

/* The processors of all threads together; if hwloc cannot tell, all that are allowed. */
static void find_binding(hwloc_topology_t topology, hwloc_bitmap_t set) {
  hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(topology);
  if (hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS) != 0)
    hwloc_bitmap_copy(set, allowed);
  hwloc_bitmap_and(set, set, allowed);
  if (hwloc_bitmap_iszero(set))
    hwloc_bitmap_copy(set, allowed);
}

/* What begins the text of an error. */
static const char *option_or(const char *call, rgi_options_id id) {
  return *rgi_option_text(id) ? rgi_option_table[id].name : call;
}

static int load_locked(const char *call) {
  if (!process.loaded)
    RGI_TRY(rgi_machine_open(option_or(call, RGI_OPT_TOPOLOGY), rgi_option_text(RGI_OPT_TOPOLOGY),
                             &process.machine));
  process.loaded = 1;
  return RG_SUCCESS;
}

/* The processors that the process is bound to, really or pretendedly; the caller frees the set. */
static int find_processors_locked(const char *call, hwloc_bitmap_t *set) {
  int error = RG_SUCCESS;
  const char *how = rgi_option_text(RGI_OPT_BIND);
  RGI_TRY(load_locked(call));
  *set = hwloc_bitmap_alloc();
  if (!*set)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for a set of processors", call);
  if (*how)
    error = rgi_machine_bind_pretended(option_or(call, RGI_OPT_BIND), &process.machine, how,
                                       find_local(), *set);
  else
    find_binding(process.machine.topology, *set);
  if (error)
    hwloc_bitmap_free(*set);
  return error;
}

static int find_place_locked(const char *call, rgi_machine_place *place) {
  hwloc_bitmap_t set;
  RGI_TRY(find_processors_locked(call, &set));
  rgi_machine_place_of(&process.machine, set, place);
  hwloc_bitmap_free(set);
  return RG_SUCCESS;
}

int rgi_machine_my_place(const char *call, rgi_machine_place *place) {
  pthread_mutex_lock(&process.lock);
  int error = find_place_locked(call, place);
  pthread_mutex_unlock(&process.lock);
  return error;
}

/* --- types of resources ----------------------------------------------------------------- */

/* The types of the machine from the whole to the threads, with commas between them. */
static void list_types_locked(char types[TYPES]) {
  hwloc_topology_t topology = process.machine.topology;
  int n = 0;
  types[0] = 0;
  for (int depth = -1; depth < hwloc_topology_get_depth(topology) && n < TYPES; depth++) {
    hwloc_obj_type_t type = depth < 0 ? HWLOC_OBJ_NUMANODE : hwloc_get_depth_type(topology, depth);
    n += snprintf(types + n, (size_t)(TYPES - n), "%s%s", n ? ", " : "",
                  hwloc_obj_type_string(type));
  }
}

static int has_processors(hwloc_obj_type_t type) {
  return hwloc_obj_type_is_normal(type) || type == HWLOC_OBJ_NUMANODE;
}

int rgi_machine_find_type(const char *call, const char *name, hwloc_obj_type_t *type) {
  char types[TYPES];
  if (name && hwloc_type_sscanf(name, type, NULL, 0) == 0 && has_processors(*type))
    return RG_SUCCESS;
  pthread_mutex_lock(&process.lock);
  int error = load_locked(call);
  if (!error)
    list_types_locked(types);
  pthread_mutex_unlock(&process.lock);
  return error ? error
               : rgi_error(RG_ERR_ARG, "%s: \"%.100s\" is no type of resource; this machine has %s",
                           call, name ? name : "NULL", types);
}

static int is_bound_locked(hwloc_const_bitmap_t set) {
  return !hwloc_bitmap_isincluded(hwloc_topology_get_allowed_cpuset(process.machine.topology), set);
}

/* How many resources of a type hold some of these processors. */
static int count_touched_locked(hwloc_const_bitmap_t set, hwloc_obj_type_t type) {
  hwloc_topology_t topology = process.machine.topology;
  int n = 0;
  for (hwloc_obj_t o = NULL;
       (o = hwloc_get_next_obj_covering_cpuset_by_type(topology, set, type, o));)
    n++;
  return n;
}

int rgi_machine_is_bound(const char *call) {
  hwloc_bitmap_t set;
  int bound = 1;
  pthread_mutex_lock(&process.lock);
  if (find_processors_locked(call, &set) == RG_SUCCESS) {
    bound = is_bound_locked(set);
    hwloc_bitmap_free(set);
  }
  pthread_mutex_unlock(&process.lock);
  return bound;
}

void rgi_machine_tell_unbound(const char *call) {
  static atomic_int told;
  if (!atomic_load(&told) && !rgi_machine_is_bound(call) && !atomic_exchange(&told, 1))
    rgi_log(RGI_LOG_INFO,
            "%s: no level, as this process is bound to no part of the "
            "machine: " RGI_MACHINE_HOW_TO_BIND,
            call);
}

void rgi_machine_tell_without(const char *call, hwloc_obj_type_t type) {
  hwloc_bitmap_t set;
  const char *name = hwloc_obj_type_string(type);
  pthread_mutex_lock(&process.lock);
  if (find_processors_locked(call, &set) == RG_SUCCESS) {
    int n = count_touched_locked(set, type);
    if (n)
      rgi_log(RGI_LOG_INFO, "%s: this process is bound to processors of %d %s%s%s", call, n, name,
              n > 1 ? "s" : "",
              is_bound_locked(set) ? "" : ", the whole machine: " RGI_MACHINE_HOW_TO_BIND);
    else
      rgi_log(RGI_LOG_INFO, "%s: this process has no %s", call, name);
    hwloc_bitmap_free(set);
  }
  pthread_mutex_unlock(&process.lock);
}

int rgi_machine_check_options(const char *call) {
  rgi_machine_place place;
  rgi_machine_forget();
  return *rgi_option_text(RGI_OPT_BIND) || rgi_machine_is_pretended()
             ? rgi_machine_my_place(call, &place)
             : RG_SUCCESS;
}

int rgi_machine_is_pretended(void) {
  return *rgi_option_text(RGI_OPT_TOPOLOGY) != 0;
}

/* "0" or "0-3,8": to load the machine for this alone takes some 10 ms. */
int rgi_machine_has_memory_nodes(void) {
  char line[8] = "";
  if (rgi_machine_is_pretended())
    return 1;
  FILE *f = fopen("/sys/devices/system/node/online", "r");
  char *read = f ? fgets(line, sizeof line, f) : NULL;
  if (f)
    fclose(f);
  return read && strpbrk(line, "-,") != NULL;
}

/* Errors are ignored: memory that is not bound is slower and nothing else. */
void rgi_machine_bind_memory(void *at, size_t bytes, int node) {
  if (rgi_machine_is_pretended())
    return;
  pthread_mutex_lock(&process.lock);
  if (load_locked("rg_init") == RG_SUCCESS) {
    hwloc_topology_t t = process.machine.topology;
    hwloc_obj_t o = node < 0 ? NULL : hwloc_get_obj_by_type(t, HWLOC_OBJ_NUMANODE, (unsigned)node);
    hwloc_set_area_membind(t, at, bytes, o ? o->nodeset : hwloc_topology_get_topology_nodeset(t),
                           o ? HWLOC_MEMBIND_BIND : HWLOC_MEMBIND_DEFAULT, HWLOC_MEMBIND_BYNODESET);
  }
  pthread_mutex_unlock(&process.lock);
}

void rgi_machine_forget(void) {
  pthread_mutex_lock(&process.lock);
  if (process.loaded)
    rgi_machine_close(&process.machine);
  process.loaded = 0;
  pthread_mutex_unlock(&process.lock);
}
