/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "oracle.h"

#include <string.h>

static int passes(hwloc_obj_t obj, int filter) {
  hwloc_obj_type_t t = obj->type;
  int compute = t == HWLOC_OBJ_PACKAGE || t == HWLOC_OBJ_DIE || t == HWLOC_OBJ_CORE ||
                t == HWLOC_OBJ_PU || t == HWLOC_OBJ_GROUP;
  int memory = hwloc_obj_type_is_cache(t) || t == HWLOC_OBJ_NUMANODE || t == HWLOC_OBJ_GROUP;
  return (t == HWLOC_OBJ_MACHINE && (filter & RG_LEVEL_NETWORK)) ||
         (compute && (filter & RG_LEVEL_COMPUTE)) || (memory && (filter & RG_LEVEL_MEMORY));
}

/* The objects one after another: every depth, then the memory. */
static hwloc_obj_t next_object(hwloc_topology_t topology, int *depth, hwloc_obj_t last) {
  int deepest = hwloc_topology_get_depth(topology);
  hwloc_obj_t obj = last;
  while (*depth <= deepest) {
    obj = hwloc_get_next_obj_by_depth(topology,
                                      *depth == deepest ? HWLOC_TYPE_DEPTH_NUMANODE : *depth, obj);
    if (obj)
      return obj;
    ++*depth;
  }
  return NULL;
}

#define FOR_OBJECTS(o, obj)                                                                        \
  int depth_ = 0;                                                                                  \
  for (hwloc_obj_t obj = NULL; (obj = next_object((o)->machine, &depth_, obj));)

static int is_inside(const oracle *o, int rank, hwloc_obj_t obj) {
  return o->bound[rank] ? hwloc_bitmap_isincluded(o->bound[rank], obj->cpuset)
                        : obj->type == HWLOC_OBJ_MACHINE ||
                              hwloc_bitmap_isequal(obj->cpuset,
                                                   hwloc_topology_get_topology_cpuset(o->machine));
}

static rank_set inside(const oracle *o, rank_set all, int node, hwloc_obj_t obj) {
  rank_set set = 0;
  for (int r = 0; r < o->ranks; r++)
    if ((all >> r & 1) && o->node[r] == node && is_inside(o, r, obj))
      set |= (rank_set)1 << r;
  return set;
}

rank_set oracle_below(const oracle *o, rank_set all, int rank, int filter) {
  rank_set best = 0;
  FOR_OBJECTS(o, obj) {
    rank_set set = inside(o, all, o->node[rank], obj);
    if (passes(obj, filter) && (set >> rank & 1) && set != all &&
        __builtin_popcountll(set) > __builtin_popcountll(best))
      best = set;
  }
  return best;
}

rank_set oracle_sharing(const oracle *o, rank_set all, int rank, hwloc_obj_type_t type) {
  hwloc_obj_t best = NULL;
  FOR_OBJECTS(o, obj) {
    if (obj->type == type && is_inside(o, rank, obj) &&
        (!best || hwloc_bitmap_isincluded(obj->cpuset, best->cpuset)))
      best = obj;
  }
  return best ? inside(o, all, o->node[rank], best) : 0;
}

int oracle_siblings(const oracle *o, rank_set all, int filter, rank_set mine, int *index) {
  int n = 0;
  *index = 0;
  for (int r = 0; r < o->ranks; r++) {
    rank_set set = all >> r & 1 ? oracle_below(o, all, r, filter) : 0;
    if (set && __builtin_ctzll(set) == r) {
      n++;
      *index += r < __builtin_ctzll(mine);
    }
  }
  return n;
}

int oracle_is_outermost(const oracle *o, rank_set all, rank_set set, int filter, const char *type) {
  int node = o->node[__builtin_ctzll(set)], widest = 0, own = 0;
  FOR_OBJECTS(o, obj) {
    int weight = hwloc_bitmap_weight(obj->cpuset);
    if (!passes(obj, filter) || inside(o, all, node, obj) != set)
      continue;
    widest = weight > widest ? weight : widest;
    if (strcmp(hwloc_obj_type_string(obj->type), type) == 0 && weight > own)
      own = weight;
  }
  return widest > 0 && own == widest;
}

int oracle_is_lowest(const oracle *o, rank_set set, const char *type) {
  int node = o->node[__builtin_ctzll(set)], narrowest = 1 << 30, own = 0;
  for (int r = 0; r < o->ranks; r++)
    if ((set >> r & 1) && o->node[r] != node)
      return strcmp(type, "Cluster") == 0;
  FOR_OBJECTS(o, obj) {
    int weight = hwloc_bitmap_weight(obj->cpuset);
    if (inside(o, set, node, obj) != set)
      continue;
    narrowest = weight < narrowest ? weight : narrowest;
    if (strcmp(hwloc_obj_type_string(obj->type), type) == 0 && (own == 0 || weight < own))
      own = weight;
  }
  return own == narrowest;
}
