/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A job's hierarchy as text, as a picture (SVG) and as JSON. */
#ifndef TOPO_DRAW_H
#define TOPO_DRAW_H

#include <jansson.h>
#include <stdio.h>

#include "tree.h"

void topo_draw_text(FILE *f, const topo_job *job, const topo_tree_level *root);

/* Self-contained SVG: boxes in boxes, a tile for each rank. Returns 0 if it could
 * not be written (or for want of memory). */
int topo_draw_svg(FILE *f, const topo_job *job, const topo_tree_level *root);

/* A new reference, or NULL for want of memory. */
json_t *topo_draw_json(const topo_job *job, const topo_tree_level *root);

#endif
