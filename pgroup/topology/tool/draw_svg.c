/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The hierarchy as a picture: a box for each level inside the box of the level above, a tile for
 * each rank. lay_out sizes the boxes from the innermost outwards, draw_box writes them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "tool.h"

enum {
  MARGIN = 24,
  TOP = 76,
  PAD = 9,
  GAP = 8,
  LINE = 14,
  TILE_W = 38,
  TILE_H = 24,
  FOOT = 40,
  SUBTITLE = 192
};
#define ASPECT 1.7 /* width to height that parts are laid out for */

typedef struct drawn_box {
  const topo_tree_level *level;
  double x, y, w, h;      /* x, y from the box around it */
  int columns;            /* of tiles */
  struct drawn_box *part; /* level->below of them */
} drawn_box;

/* --- layout ---------------------------------------------------------------- */

static void box_free(drawn_box *box) {
  for (int i = 0; box->part && i < box->level->below; i++)
    box_free(&box->part[i]);
  free(box->part);
}

static double head_height(const topo_tree_level *level) {
  return PAD + LINE * (1 + level->also) + 4;
}

/* A text's width, near enough: the fonts differ. */
static double text_width(const char *text, double size) {
  return 0.61 * size * (double)strlen(text);
}

static double head_width(const topo_tree_level *level) {
  double w = text_width(level->label, 13);
  for (int i = 0; i < level->also; i++)
    w = fmax(w, text_width(level->extra[i], 11));
  return w + 2 * PAD;
}

static double tiles_height(const drawn_box *box) {
  int n = box->level->loose;
  return n ? (n + box->columns - 1) / box->columns * (TILE_H + GAP) : 0;
}

/* Places the parts row by row below `top`, at most `width` wide. Returns the
 * height and width taken. */
static double flow_parts(drawn_box *outer, double top, double width, double *taken) {
  double x = PAD, y = top, row = 0;
  *taken = 0;
  for (int i = 0; i < outer->level->below; i++) {
    drawn_box *p = &outer->part[i];
    if (x > PAD && x + p->w > width + PAD + 0.5) {
      x = PAD;
      y += row + GAP;
      row = 0;
    }
    p->x = x;
    p->y = y;
    row = fmax(row, p->h);
    x += p->w + GAP;
    *taken = fmax(*taken, x - GAP + PAD);
  }
  return y + row - top;
}

/* Tries so many parts in the first row, and so on; keeps the shape that comes
 * nearest to the aspect wanted and leaves the fewest holes. */
static void arrange_parts(drawn_box *box, double top, double *w, double *h) {
  double width = 0, best = INFINITY, chosen = 0, area = 0, taken;
  for (int i = 0; i < box->level->below; i++)
    area += box->part[i].w * box->part[i].h;
  for (int i = 0; i < box->level->below && i < 64; i++) {
    width += box->part[i].w + (i ? GAP : 0);
    double height = flow_parts(box, top, width, &taken);
    double badness = fabs(log(taken / (height + top) / ASPECT)) + 2 * (1 - area / taken / height);
    if (badness < best) {
      best = badness;
      chosen = width;
    }
  }
  *h = flow_parts(box, top, chosen, w);
}

/* Sizes the box and all in it. Returns 0 if there is no memory. */
static int lay_out(drawn_box *outer, const topo_tree_level *level) {
  double w = 0, h = 0;
  *outer =
      (drawn_box){.level = level, .part = calloc((size_t)level->below + 1, sizeof *outer->part)};
  if (!outer->part)
    return 0;
  for (int i = 0; i < level->below; i++)
    if (!lay_out(&outer->part[i], level->level[i]))
      return 0;
  outer->columns = level->loose ? (int)ceil(sqrt(level->loose * ASPECT * TILE_H / TILE_W)) : 0;
  double top = head_height(level) + tiles_height(outer);
  if (level->below)
    arrange_parts(outer, top, &w, &h);
  outer->w = fmax(fmax(head_width(level), w), outer->columns * (TILE_W + GAP) - GAP + 2 * PAD);
  outer->h = top + h + (level->below ? PAD : PAD - GAP);
  return 1;
}

/* --- drawing --------------------------------------------------------------- */

static void text_at(FILE *f, double x, double y, const char *style, const char *text) {
  fprintf(f, "<text x='%.1f' y='%.1f' %s>", x, y, style);
  rgi_escape_xml(f, text);
  fputs("</text>\n", f);
}

static const char *fill_of(const char *type) {
  static const struct {
    const char *type, *fill;
  } fills[] = {{"Cluster", "#ffffff"}, {"Machine", "#eef0f3"},  {"Package", "#d6e6f7"},
               {"Die", "#c7d9f2"},     {"NUMANode", "#d9efdc"}, {"Core", "#fbe3cf"},
               {"PU", "#f6d5d5"},      {"Group", "#e6e1f3"}};
  for (size_t i = 0; i < sizeof fills / sizeof fills[0]; i++)
    if (strcmp(fills[i].type, type) == 0)
      return fills[i].fill;
  return "#fbf3cb"; /* caches */
}

/* Ranks that nothing smaller holds are solid in the innermost box, and dashed
 * where others have something of their own. */
static void draw_tiles(FILE *f, const drawn_box *box, double x, double y) {
  const topo_tree_level *l = box->level;
  int solid = l->below == 0;
  for (int i = 0; i < l->loose; i++) {
    double left = x + PAD + i % box->columns * (TILE_W + GAP);
    double top = y + head_height(l) + i / box->columns * (TILE_H + GAP);
    fprintf(f,
            "<rect x='%.1f' y='%.1f' width='%d' height='%d' rx='5' %s/>"
            "<text x='%.1f' y='%.1f' font-size='13' text-anchor='middle' fill='%s'>%d</text>\n",
            left, top, TILE_W, TILE_H,
            solid ? "fill='#1f4e79'" : "fill='#fff' stroke='#1f4e79' stroke-dasharray='4 3'",
            left + TILE_W / 2.0, top + 16.5, solid ? "#fff" : "#1f4e79", l->loose_ranks[i]);
  }
}

static void draw_box(FILE *f, const drawn_box *box, double x, double y) {
  const topo_tree_level *l = box->level;
  char ranks[60];
  topo_tree_ranks_text(l->count, l->ranks, ranks, sizeof ranks);
  fprintf(f, "<g><title>");
  rgi_escape_xml(f, l->label);
  fprintf(f, ": %d rank%s, %s; the root is %d</title>\n", l->count, l->count == 1 ? "" : "s", ranks,
          l->ranks[0]);
  fprintf(
      f, "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' rx='7' fill='%s' stroke='#8a94a0'/>\n",
      x, y, box->w, box->h, fill_of(l->type));
  text_at(f, x + PAD, y + PAD + 10, "font-size='13' font-weight='bold' fill='#111'", l->label);
  for (int i = 0; i < l->also; i++)
    text_at(f, x + PAD, y + PAD + 10 + LINE * (i + 1), "font-size='11' fill='#555'", l->extra[i]);
  draw_tiles(f, box, x, y);
  for (int i = 0; i < l->below; i++)
    draw_box(f, &box->part[i], x + box->part[i].x, y + box->part[i].y);
  fputs("</g>\n", f);
}

/* Whether a rank has no level of its own where others have one: the picture then explains the
 * dashed tiles. */
static int has_dashes(const topo_tree_level *level) {
  int any = level->below > 0 && level->loose > 0;
  for (int i = 0; i < level->below; i++)
    any = any || has_dashes(level->level[i]);
  return any;
}

/* What the picture shows, in a line. */
static void write_subtitle(const topo_job *job, char line[SUBTITLE]) {
  if (job->machine || job->binding)
    snprintf(line, SUBTITLE, "pretended: %.100s, bound %.60s",
             job->machine ? job->machine : "this machine", job->binding ? job->binding : "nowhere");
  else
    snprintf(line, SUBTITLE, "the running job, as it is bound");
}

static void draw_head(FILE *f, const topo_job *job, double width, double height, const char *line) {
  char title[64];
  fprintf(f,
          "<?xml version='1.0' encoding='UTF-8'?>\n"
          "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' "
          "viewBox='0 0 %.0f %.0f' font-family='DejaVu Sans,Helvetica,Arial,sans-serif'>\n"
          "<title>Hardware levels</title>\n<rect width='100%%' height='100%%' fill='#fff'/>\n",
          width, height, width, height);
  snprintf(title, sizeof title, "%d rank%s on %d node%s", job->ranks, job->ranks == 1 ? "" : "s",
           job->nodes, job->nodes == 1 ? "" : "s");
  text_at(f, MARGIN, 34, "font-size='20' font-weight='bold' fill='#111'", title);
  text_at(f, MARGIN, 57, "font-size='13' fill='#444'", line);
}

int topo_draw_svg(FILE *f, const topo_job *job, const topo_tree_level *root) {
  char line[SUBTITLE];
  drawn_box whole;
  int good = lay_out(&whole, root), dashes = has_dashes(root);
  if (good) {
    write_subtitle(job, line);
    double width = fmax(whole.w, fmax(360, text_width(line, 13))) + 2 * MARGIN;
    double height = TOP + whole.h + (dashes ? FOOT : MARGIN);
    draw_head(f, job, width, height, line);
    draw_box(f, &whole, MARGIN, TOP);
    if (dashes)
      text_at(f, MARGIN, height - 14, "font-size='12' fill='#444'",
              "dashed: not bound to anything smaller");
    fputs("</svg>\n", f);
  }
  box_free(&whole);
  return good && !ferror(f);
}
