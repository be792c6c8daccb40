/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Draws gathered spans as an SVG picture: one row for each rank, coloured by the walker
 * it works for. Self-contained: no script, no font, no link.
 *
 * For a page (timeline_page.c) the plot is a picture in the picture, of which the page's script
 * shows a part; it scales what has data-x back, and draws the axis anew. */
#include <math.h>

#include "base/escape.h"
#include "timeline/timeline.h"
#include "timeline/timeline_picture.h"

enum { WIDTH = 1200, LEFT = 70, RIGHT = 24, TOP = 84, HEAD = 30 };

#define PLOT (WIDTH - LEFT - RIGHT)
#define THINNEST 0.4 /* pixels: what is narrower cannot be seen */
#define ZOOM 256     /* a page shows what is so many times narrower */

typedef struct {
  FILE *f;
  const rgi_timeline_picture *p;
  double axis; /* seconds at the right edge */
  double row;  /* height of a rank's row */
  double bottom;
  double thinnest; /* pixels */
  rgi_timeline_legend legend;
} svg_drawing;

static double x_of(const svg_drawing *drawing, double seconds) {
  return LEFT + PLOT * seconds / drawing->axis;
}

static double y_of(const svg_drawing *drawing, int rank) {
  return TOP + drawing->row * rank;
}

/* A distance between ticks: 1, 2 or 5 times a power of ten, about ten of them. */
static double tick_step(double axis) {
  double step = pow(10, floor(log10(axis / 10)));
  double many = axis / (10 * step);
  return many > 5 ? 10 * step : many > 2 ? 5 * step : many > 1 ? 2 * step : step;
}

static void draw_axes(const svg_drawing *drawing) {
  double step = tick_step(drawing->axis);
  int digits = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;
  fprintf(drawing->f, "<g id='axis'>\n<g stroke='#bbb' stroke-width='1'>\n");
  for (int i = 0; i * step <= drawing->axis; i++)
    fprintf(drawing->f, "<path d='M%.2f %.2fv5'/>\n", x_of(drawing, i * step), drawing->bottom);
  fprintf(drawing->f, "</g>\n<g font-size='13' text-anchor='middle' fill='#333'>\n");
  for (int i = 0; i * step <= drawing->axis; i++)
    fprintf(drawing->f, "<text x='%.2f' y='%.2f'>%.*f</text>\n", x_of(drawing, i * step),
            drawing->bottom + 19, digits, i * step);
  fprintf(drawing->f,
          "</g>\n</g>\n<text x='%d' y='%.2f' font-size='13' text-anchor='middle' "
          "fill='#333'>seconds</text>\n",
          LEFT + PLOT / 2, drawing->bottom + 37);
}

/* Names every rank, or each n-th, so that the names do not touch. */
static void draw_ranks(const svg_drawing *drawing) {
  int every = 1;
  while (every * drawing->row < 15)
    every *= 2;
  fprintf(drawing->f, "<g font-size='12' text-anchor='end' fill='#333'>\n");
  for (int r = 0; r < drawing->p->ranks; r += every)
    fprintf(drawing->f, "<text x='%d' y='%.2f'>%s%d</text>\n", LEFT - 8,
            y_of(drawing, r) + drawing->row / 2 + 4, r ? "" : "rank ", drawing->p->rank_of[r]);
  fprintf(drawing->f, "</g>\n");
}

/* What a span is, in words. */
static void put_span_title(const svg_drawing *drawing, int row, const rg_span *span) {
  const int *rank_of = drawing->p->rank_of;
  fprintf(drawing->f, "<title>rank %d ", rank_of[row]);
  if (span->kind == RG_SPAN_WORK) {
    fputs("works for ", drawing->f);
    rgi_timeline_legend_name(&drawing->legend, drawing->f, span->key, 0);
  } else {
    fputs(span->kind == RG_SPAN_WAIT ? "waits" : "regroups", drawing->f);
  }
  if (rgi_timeline_frames(drawing->p, span))
    fprintf(drawing->f, " in ranks %d to %d", rank_of[span->first],
            rank_of[span->first + span->size - 1]);
  else
    fprintf(drawing->f, " in a group of %d ranks", span->size);
  fprintf(drawing->f, ", %.3f to %.3f s</title>", span->start, span->end);
}

static void draw_span(const svg_drawing *drawing, int row, const rg_span *span) {
  double x = x_of(drawing, span->start), w = x_of(drawing, span->end) - x, y = y_of(drawing, row);
  if (span->kind == RG_SPAN_IDLE || w < drawing->thinnest)
    return;
  rgi_timeline_box box = {.x = x, .y = y, .width = w, .height = drawing->row};
  if (span->kind == RG_SPAN_WORK) {
    int64_t index = rgi_timeline_legend_index(&drawing->legend, span->key);
    fprintf(drawing->f, "<g class='w%lld'>", (long long)index);
    put_span_title(drawing, row, span);
    rgi_timeline_legend_fill(&drawing->legend, drawing->f, &box, index);
  } else {
    fputs("<g>", drawing->f);
    put_span_title(drawing, row, span);
    fprintf(drawing->f, "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='%s'/>", x, y, w,
            drawing->row, span->kind == RG_SPAN_WAIT ? RGI_TIMELINE_WAITS : RGI_TIMELINE_REGROUPS);
  }
  fputs("</g>\n", drawing->f);
}

/* Spans of a rank that differ only by a gap too narrow to be seen are drawn as one. Returns how
 * many were taken. */
static int64_t join_spans(const svg_drawing *drawing, const rg_span *span, int64_t left,
                          rg_span *joined) {
  int64_t taken = 1;
  *joined = span[0];
  for (int64_t next = 1; span[0].kind == RG_SPAN_WORK && next < left; next++) {
    if (x_of(drawing, span[next].start) - x_of(drawing, joined->end) > drawing->thinnest)
      break;
    if (span[next].group != span[0].group)
      break;
    if (span[next].kind != RG_SPAN_WORK)
      continue;
    if (span[next].key != span[0].key)
      break;
    joined->end = span[next].end;
    taken = next + 1;
  }
  return taken;
}

/* What a dead rank has recorded is lost: its row is blank up to its death. */
static void draw_lost(const svg_drawing *drawing) {
  for (int64_t i = 0; i < drawing->p->deaths; i++) {
    const rg_timeline_death *death = &drawing->p->death[i];
    if (drawing->p->counts[death->rank] == 0)
      fprintf(drawing->f,
              "<g><title>what rank %d did is lost</title><rect x='%d' y='%.2f' width='%.2f' "
              "height='%.2f' fill='#fff'/></g>\n",
              drawing->p->rank_of[death->rank], LEFT, y_of(drawing, death->rank),
              x_of(drawing, death->when > 0 ? death->when : 0) - LEFT, drawing->row);
  }
}

static void draw_spans(const svg_drawing *drawing) {
  const rgi_timeline_picture *picture = drawing->p;
  fprintf(drawing->f, "<rect x='%d' y='%d' width='%.2f' height='%.2f' fill='url(#idle)'/>\n", LEFT,
          TOP, x_of(drawing, picture->seconds) - LEFT, drawing->bottom - TOP);
  draw_lost(drawing);
  fprintf(drawing->f, "<g id='spans' shape-rendering='crispEdges'>\n");
  for (int r = 0; r < picture->ranks; r++)
    for (int64_t i = 0; i < picture->counts[r];) {
      rg_span joined;
      i += join_spans(drawing, picture->spans + picture->starts[r] + i, picture->counts[r] - i,
                      &joined);
      draw_span(drawing, r, &joined);
    }
  fputs("</g>\n", drawing->f);
  fprintf(drawing->f, "<g stroke='#fff' stroke-opacity='.55' stroke-width='%.2f'>\n",
          drawing->row > 8 ? 1 : 0.5);
  for (int r = 1; r < picture->ranks; r++)
    fprintf(drawing->f, "<path d='M%d %.2fh%.2f'/>", LEFT, y_of(drawing, r),
            x_of(drawing, picture->seconds) - LEFT);
  fputs("\n</g>\n", drawing->f);
}

/* A frame around the span of a group on so many rows, with the number of its ranks if there are
 * several and there is room. */
static void draw_group(const svg_drawing *drawing, const rg_span *span, double end, int row,
                       int rows) {
  double x = x_of(drawing, span->start), w = x_of(drawing, end) - x, y = y_of(drawing, row),
         h = drawing->row * rows;
  fprintf(drawing->f,
          "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='none' stroke='#111' "
          "stroke-width='1.5' stroke-dasharray='%s'/>\n",
          x, y, w, h, rows == span->size ? "none" : RGI_TIMELINE_APART);
  if (w > 62 && h > 20 && span->size > 1)
    fprintf(drawing->f,
            "<text x='%.2f' data-x='%.2f' y='%.2f' font-size='12' text-anchor='middle' fill='#111' "
            "stroke='#fff' stroke-width='3' paint-order='stroke' stroke-linejoin='round'>%d "
            "ranks</text>\n",
            x + w / 2, x + w / 2, y + h / 2 + 4, span->size);
}

/* Whether the spans of all members before this one are lost. */
static int is_first_left(const svg_drawing *drawing, const rg_span *span, int row) {
  int lost = span->first;
  while (lost < row && drawing->p->counts[lost] == 0)
    lost++;
  return lost == row;
}

/* The first member whose spans are there has recorded a group of consecutive ranks; of others each
 * member has a frame. */
static void draw_groups(const svg_drawing *drawing) {
  for (int r = 0; r < drawing->p->ranks; r++) {
    const rg_span *span = drawing->p->spans + drawing->p->starts[r];
    for (int64_t i = 0, next; i < drawing->p->counts[r]; i = next) {
      for (next = i + 1; next < drawing->p->counts[r] && span[next].group == span[i].group;)
        next++;
      if (rgi_timeline_frames(drawing->p, &span[i]) && is_first_left(drawing, &span[i], r))
        draw_group(drawing, &span[i], span[next - 1].end, span[i].first, span[i].size);
      else if (rgi_timeline_is_apart(drawing->p, &span[i]))
        draw_group(drawing, &span[i], span[next - 1].end, r, 1);
    }
  }
}

static void draw_line(const svg_drawing *drawing, double seconds, const char *what, int before) {
  double x = x_of(drawing, seconds);
  fprintf(drawing->f,
          "<path d='M%.2f %d V%.2f' stroke='#c00' stroke-width='2' stroke-dasharray='%s'/>"
          "<text x='%.2f' data-x='%.2f' y='%d' font-size='13' fill='#c00' text-anchor='%s'>%s %.2f "
          "s</text>\n",
          x, TOP - 8, drawing->bottom, before ? "6 4" : "none", x + (before ? -4 : 4), x, TOP - 12,
          before ? "end" : "start", what, seconds);
}

/* Both labels stand side by side on the left when the end leaves no room. */
static void draw_lines(const svg_drawing *drawing) {
  if (drawing->p->ideal > 0)
    draw_line(drawing, drawing->p->ideal, "ideal", 1);
  draw_line(drawing, drawing->p->seconds, "end", 0);
}

/* A cross where a rank has died, and nothing but grey behind it. */
static void draw_deaths(const svg_drawing *drawing) {
  for (int64_t i = 0; i < drawing->p->deaths; i++) {
    const rg_timeline_death *death = &drawing->p->death[i];
    double x = x_of(drawing, death->when), top = y_of(drawing, death->rank),
           y = top + drawing->row / 2;
    double end = x_of(drawing, drawing->p->seconds), arm = drawing->row < 14 ? drawing->row / 2 : 7;
    fprintf(drawing->f,
            "<g><title>rank %d died at %.3f s</title><rect x='%.2f' y='%.2f' width='%.2f' "
            "height='%.2f' fill='" RGI_TIMELINE_DEAD
            "'/><path data-x='%.2f' d='M%.2f %.2fl%.2f %.2fm0 %.2fl%.2f "
            "%.2f' stroke='#c00' stroke-width='3'/></g>\n",
            drawing->p->rank_of[death->rank], death->when, x, top, end > x ? end - x : 0,
            drawing->row, x, x - arm, y - arm, 2 * arm, 2 * arm, -2 * arm, -2 * arm, 2 * arm);
  }
}

static void draw_head(const svg_drawing *drawing, double height) {
  if (!drawing->p->page)
    fputs("<?xml version='1.0' encoding='UTF-8'?>\n", drawing->f);
  fputs("<svg xmlns='http://www.w3.org/2000/svg' id='timeline' ", drawing->f);
  if (!drawing->p->page) /* else as wide as the screen */
    fprintf(drawing->f, "width='%d' height='%.0f' ", WIDTH, height);
  fprintf(drawing->f,
          "viewBox='0 0 %d %.0f' font-family='DejaVu Sans,Helvetica,Arial,sans-serif'>\n<title>",
          WIDTH, height);
  rgi_escape_xml(drawing->f, drawing->p->title);
  fputs("</title>\n", drawing->f);
  rgi_timeline_legend_define(drawing->f);
  fprintf(drawing->f,
          "<rect width='100%%' height='100%%' fill='#fff'/>\n<text x='%d' y='28' "
          "font-size='20' font-weight='bold' fill='#111'>",
          LEFT);
  rgi_escape_xml(drawing->f, drawing->p->title);
  fprintf(drawing->f, "</text>\n<text x='%d' y='50' font-size='14' fill='#444'>", LEFT);
  rgi_escape_xml(drawing->f, drawing->p->subtitle);
  fputs("</text>\n", drawing->f);
}

static void draw_plot(const svg_drawing *drawing) {
  if (drawing->p->page)
    fprintf(drawing->f,
            "<svg id='plot' data-seconds='%.9g' data-bottom='%.2f' x='%d' y='%d' width='%d' "
            "height='%.2f' viewBox='%d %d %d %.2f' preserveAspectRatio='none'>\n",
            drawing->axis, drawing->bottom, LEFT, TOP - HEAD, PLOT, drawing->bottom - TOP + HEAD,
            LEFT, TOP - HEAD, PLOT, drawing->bottom - TOP + HEAD);
  draw_spans(drawing);
  draw_groups(drawing);
  draw_deaths(drawing);
  draw_lines(drawing);
  if (drawing->p->page)
    fputs("</svg>\n", drawing->f);
}

/* Rows of 4 to 26 pixels: text stays readable, and 64 ranks fit a screen. */
static double row_height(int ranks) {
  double row = 672.0 / ranks;
  return row > 26 ? 26 : row < 4 ? 4 : row;
}

int rgi_timeline_svg(FILE *file, const rgi_timeline_picture *picture) {
  svg_drawing drawing = {.f = file, .p = picture, .row = row_height(picture->ranks)};
  if (!rgi_timeline_legend_open(&drawing.legend, picture, LEFT, PLOT))
    return 0;
  double longest = picture->seconds > picture->ideal ? picture->seconds : picture->ideal;
  drawing.axis = longest > 0 ? 1.08 * longest : 1;
  drawing.bottom = TOP + drawing.row * picture->ranks;
  drawing.thinnest = picture->page ? THINNEST / ZOOM : THINNEST;
  draw_head(&drawing, drawing.bottom + 62 + rgi_timeline_legend_height(&drawing.legend));
  draw_plot(&drawing);
  draw_axes(&drawing);
  draw_ranks(&drawing);
  rgi_timeline_legend_draw(&drawing.legend, file, drawing.bottom + 54);
  fputs("</svg>\n", file);
  rgi_timeline_legend_close(&drawing.legend);
  return !ferror(file);
}
