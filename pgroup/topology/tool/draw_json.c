/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The hierarchy as JSON. */
#include <regroup/version.h>

#include "tool.h"

static json_t *numbers_json(int n, const int values[]) {
  json_t *list = json_array();
  for (int i = 0; i < n; i++)
    json_array_append_new(list, json_integer(values[i]));
  return list;
}

static json_t *level_json(const topo_tree_level *level, int siblings, int index) {
  json_t *resources = json_array(), *below = json_array();
  json_array_append_new(resources, json_string(level->label));
  for (int i = 0; i < level->also; i++)
    json_array_append_new(resources, json_string(level->extra[i]));
  for (int i = 0; i < level->below; i++)
    json_array_append_new(below, level_json(level->level[i], level->below, i));
  return json_pack("{sssosisisososo}", "type", level->type, "resources", resources, "siblings",
                   siblings, "index", index, "ranks", numbers_json(level->count, level->ranks),
                   "loose", numbers_json(level->loose, level->loose_ranks), "below", below);
}

/* Each rank's node, and the resources that contain it, outermost first. */
static json_t *places_json(const topo_job *job) {
  json_t *list = json_array();
  for (int r = 0; r < job->ranks; r++)
    json_array_append_new(list, json_null());
  for (int i = 0; i < job->nodes; i++) {
    const rgi_places *places = job->node[i].places;
    for (int row = 0; row < places->rows; row++) {
      json_t *chain = json_array();
      for (int k = 0; k < places->at[row].length; k++)
        json_array_append_new(
            chain, json_sprintf("%s %d", rgi_machine_resource_type(&places->at[row].chain[k]),
                                (int)places->at[row].chain[k].index));
      json_array_set_new(list, (size_t)places->at[row].rank,
                         json_pack("{siso}", "node", i, "inside", chain));
    }
  }
  return list;
}

json_t *topo_draw_json(const topo_job *job, const topo_tree_level *root) {
  json_t *nodes = json_array();
  for (int i = 0; i < job->nodes; i++)
    json_array_append_new(nodes, json_string(job->node[i].name));
  return json_pack("{sssososisosisoso}", "version", RG_VERSION, "machine",
                   job->machine ? json_string(job->machine) : json_null(), "binding",
                   job->binding ? json_string(job->binding) : json_null(), "ranks", job->ranks,
                   "nodes", nodes, "levels", topo_tree_depth(root), "hierarchy",
                   level_json(root, 1, 0), "places", places_json(job));
}
