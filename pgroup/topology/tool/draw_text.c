/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The hierarchy as an indented tree: a first pass over the levels measures the columns, a second
 * one prints a line for each level. */
#include <langinfo.h>
#include <locale.h>
#include <string.h>

#include "tool.h"

/* The branches of the tree: box-drawing characters where the terminal has them. */
typedef struct {
  const char *fork, *corner, *down;
} strokes;

enum { DEEPEST = RGI_CHAIN + 2, RANKS_TEXT = 40, INDENT = 3 };

typedef struct {
  FILE *f;
  const strokes *strokes;
  int label_end, ranks_width; /* columns */
  int ended[DEEPEST];         /* whether the last line of this depth is out */
} text_page;

static const char loose_label[] = "(nothing of their own)";

static void measure_level(text_page *page, const topo_tree_level *level, int depth) {
  char text[RANKS_TEXT];
  int end = INDENT * depth + (int)strlen(level->label);
  int loose_end = INDENT * (depth + 1) + (int)strlen(loose_label);
  if (level->loose && level->below && loose_end > end)
    end = loose_end;
  topo_tree_ranks_text(level->count, level->ranks, text, sizeof text);
  if (end > page->label_end)
    page->label_end = end;
  if ((int)strlen(text) > page->ranks_width)
    page->ranks_width = (int)strlen(text);
  for (int i = 0; i < level->below; i++)
    measure_level(page, level->level[i], depth + 1);
}

/* One line: a level, or only a label with ranks. */
typedef struct {
  const char *label;
  int n;
  const int *ranks;
  const topo_tree_level *level; /* for what else it is; or NULL */
} page_row;

static void print_row(const text_page *page, int depth, const page_row *row) {
  const topo_tree_level *l = row->level;
  char text[RANKS_TEXT];
  for (int i = 1; i < depth; i++)
    fputs(page->ended[i] ? "   " : page->strokes->down, page->f);
  if (depth > 0)
    fputs(page->ended[depth] ? page->strokes->corner : page->strokes->fork, page->f);
  topo_tree_ranks_text(row->n, row->ranks, text, sizeof text);
  fprintf(page->f, "%s%*s  %s %s", row->label,
          page->label_end - INDENT * depth - (int)strlen(row->label), "",
          row->n == 1 ? "rank " : "ranks", text);
  for (int i = 0; l && i < l->also; i++)
    fprintf(page->f, "%*s%s", i ? 0 : page->ranks_width - (int)strlen(text) + 2, i ? ", " : "",
            l->extra[i]);
  fputc('\n', page->f);
}

static void print_level(text_page *page, const topo_tree_level *level, int depth) {
  int rows = level->below + (level->loose && level->below);
  print_row(
      page, depth,
      &(page_row){.label = level->label, .n = level->count, .ranks = level->ranks, .level = level});
  for (int i = 0; i < rows; i++) {
    page->ended[depth + 1] = i + 1 == rows;
    if (i < level->below)
      print_level(page, level->level[i], depth + 1);
    else
      print_row(page, depth + 1,
                &(page_row){.label = loose_label, .n = level->loose, .ranks = level->loose_ranks});
  }
}

void topo_draw_text(FILE *f, const topo_job *job, const topo_tree_level *root) {
  static const strokes lines = {"├─ ", "└─ ", "│  "}, plain = {"|- ", "`- ", "|  "};
  setlocale(LC_CTYPE, "");
  int utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  text_page p = {.f = f, .strokes = utf8 ? &lines : &plain};
  int depth = topo_tree_depth(root);
  measure_level(&p, root, 0);
  fprintf(f, "%d rank%s on %d node%s, %d level%s below the whole\n\n", job->ranks,
          job->ranks == 1 ? "" : "s", job->nodes, job->nodes == 1 ? "" : "s", depth,
          depth == 1 ? "" : "s");
  print_level(&p, root, 0);
}
