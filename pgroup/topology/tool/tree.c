/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The tree is built node by node, recursively: each level below a set of places is found as
 * the library finds it for its communicators (rgi_places_level_below). */
#include "tool.h"

#include <regroup/topology.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A part of a node: places numbered from 0, and the ranks of the job. */
typedef struct {
  const topo_job_node *node;
  const rgi_places *places;
  const int *ranks;
} node_part;

static topo_tree_level *new_level(int count) {
  topo_tree_level *l = calloc(1, sizeof *l);
  if (!l)
    return NULL;
  l->count = count;
  l->ranks = malloc((size_t)count * sizeof *l->ranks);
  l->loose_ranks = malloc((size_t)count * sizeof *l->ranks);
  l->level = malloc((size_t)count * sizeof *l->level); /* at least one rank each */
  l->extra = malloc(RGI_CHAIN * sizeof *l->extra);
  if (l->ranks && l->loose_ranks && l->level && l->extra)
    return l;
  topo_tree_free(l);
  return NULL;
}

void topo_tree_free(topo_tree_level *level) {
  if (!level)
    return;
  for (int i = 0; i < level->below; i++)
    topo_tree_free(level->level[i]);
  free(level->ranks);
  free(level->loose_ranks);
  free(level->level);
  free(level->extra);
  free(level);
}

static void write_label(const topo_job_node *node, const rgi_machine_resource *resource,
                        char label[TOPO_TREE_LABEL]) {
  if (resource->type == HWLOC_OBJ_MACHINE)
    snprintf(label, TOPO_TREE_LABEL, "Machine %s", node->name);
  else
    snprintf(label, TOPO_TREE_LABEL, "%s %d", rgi_machine_resource_type(resource),
             (int)resource->index);
}

/* Names the level after its outermost resource that passes the filter. */
static void name_level(topo_tree_level *named, const node_part *part, int row,
                       const rgi_places_level *level, int filter) {
  const rgi_machine_resource *chain = part->places->at[row].chain;
  for (int i = level->depth; i <= level->last; i++) {
    if (!(rgi_machine_resource_class(&chain[i]) & filter))
      continue;
    if (named->type) {
      write_label(part->node, &chain[i], named->extra[named->also++]);
    } else {
      named->type = rgi_machine_resource_type(&chain[i]);
      write_label(part->node, &chain[i], named->label);
    }
  }
}

static int add_levels(topo_tree_level *above, const node_part *part, int filter);

/* The level that begins in this row, and what is below it. */
static topo_tree_level *level_at(const node_part *part, int row, const rgi_places_level *level,
                                 int filter) {
  topo_tree_level *l = new_level(level->count);
  rgi_places *places = rgi_places_below(part->places, row, level, NULL);
  int n = 0, good = l && places;
  for (int r = row; r < part->places->rows && good; r++)
    if (rgi_places_level_has(part->places, row, level, r))
      l->ranks[n++] = part->ranks[r];
  if (good) {
    name_level(l, part, row, level, filter);
    good = add_levels(l, &(node_part){part->node, places, l->ranks}, filter);
  }
  rgi_places_release(places);
  if (good)
    return l;
  topo_tree_free(l);
  return NULL;
}

static int add_levels(topo_tree_level *above, const node_part *part, int filter) {
  rgi_places_level level;
  for (int row = 0; row < part->places->rows; row++) {
    if (!rgi_places_level_below(part->places, row, (rgi_places_choice){.filter = filter}, &level)) {
      above->loose_ranks[above->loose++] = part->ranks[row];
    } else if (level.first == part->places->at[row].rank) {
      above->level[above->below] = level_at(part, row, &level, filter);
      if (!above->level[above->below])
        return 0;
      above->below++;
    }
  }
  return 1;
}

static int by_first_rank(const void *a, const void *b) {
  const topo_tree_level *const *x = a, *const *y = b;
  return ((*x)->ranks[0] > (*y)->ranks[0]) - ((*x)->ranks[0] < (*y)->ranks[0]);
}

static int by_number(const void *a, const void *b) {
  const int *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* What all ranks share. */
static void name_root(topo_tree_level *root, const topo_job *job, const int ranks[]) {
  const rgi_places *places = job->node[0].places;
  int length = places->at[0].length;
  for (int r = 1; r < places->rows; r++)
    length = rgi_places_common_length(&places->at[0], &places->at[r], length);
  if (job->nodes == 1) {
    node_part whole = {&job->node[0], places, ranks};
    name_level(root, &whole, 0, &(rgi_places_level){.last = length - 1}, RG_LEVEL_ALL);
  } else {
    root->type = "Cluster";
    snprintf(root->label, sizeof root->label, "Cluster of %d nodes", job->nodes);
  }
}

static int add_node(topo_tree_level *root, const topo_job_node *node, int filter) {
  int *ranks = malloc((size_t)node->places->rows * sizeof *ranks);
  for (int r = 0; ranks && r < node->places->rows; r++)
    ranks[r] = node->places->at[r].rank;
  int good = ranks && add_levels(root, &(node_part){node, node->places, ranks}, filter);
  free(ranks);
  return good;
}

topo_tree_level *topo_tree_build(const topo_job *job, int filter) {
  topo_tree_level *root = new_level(job->ranks);
  int good = root != NULL;
  for (int r = 0; r < job->ranks && good; r++)
    root->ranks[r] = r;
  if (good)
    name_root(root, job, root->ranks);
  for (int i = 0; i < job->nodes && good; i++)
    good = add_node(root, &job->node[i], filter);
  if (!good) {
    topo_tree_free(root);
    return NULL;
  }
  qsort(root->level, (size_t)root->below, sizeof *root->level, by_first_rank);
  qsort(root->loose_ranks, (size_t)root->loose, sizeof *root->loose_ranks, by_number);
  return root;
}

int topo_tree_depth(const topo_tree_level *level) {
  int deepest = 0;
  for (int i = 0; i < level->below; i++) {
    int depth = 1 + topo_tree_depth(level->level[i]);
    deepest = depth > deepest ? depth : deepest;
  }
  return deepest;
}

void topo_tree_ranks_text(int n, const int ranks[], char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (int i = 0, last; i < n; i = last + 1) {
    char run[32];
    for (last = i; last + 1 < n && ranks[last + 1] == ranks[last] + 1;)
      last++;
    if (last == i)
      snprintf(run, sizeof run, "%s%d", i ? "," : "", ranks[i]);
    else
      snprintf(run, sizeof run, "%s%d-%d", i ? "," : "", ranks[i], ranks[last]);
    if (used + strlen(run) + sizeof ".." > size) {
      strcpy(text + used, "..");
      return;
    }
    strcpy(text + used, run);
    used += strlen(run);
  }
}
