/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Draws gathered spans as an SVG picture: one row for each rank, coloured by the walker
 * it works for. Self-contained: no script, no font, no link.
 *
 * For a page (timeline_page.c) the plot is a picture in the picture, of which the page's script
 * shows a part; it scales what has data-x back, and draws the axis anew. */
#include <math.h>

#include "base/xml.h"
#include "timeline/timeline.h"
#include "timeline/timeline_legend.h"

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

static double x_of(const svg_drawing *d, double seconds) {
  return LEFT + PLOT * seconds / d->axis;
}

static double y_of(const svg_drawing *d, int rank) {
  return TOP + d->row * rank;
}

/* A distance between ticks: 1, 2 or 5 times a power of ten, about ten of them. */
static double tick_step(double axis) {
  double step = pow(10, floor(log10(axis / 10)));
  double many = axis / (10 * step);
  return many > 5 ? 10 * step : many > 2 ? 5 * step : many > 1 ? 2 * step : step;
}

static void draw_axes(const svg_drawing *d) {
  double step = tick_step(d->axis);
  int digits = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;
  fprintf(d->f, "<g id='axis'>\n<g stroke='#bbb' stroke-width='1'>\n");
  for (int i = 0; i * step <= d->axis; i++)
    fprintf(d->f, "<path d='M%.2f %.2fv5'/>\n", x_of(d, i * step), d->bottom);
  fprintf(d->f, "</g>\n<g font-size='13' text-anchor='middle' fill='#333'>\n");
  for (int i = 0; i * step <= d->axis; i++)
    fprintf(d->f, "<text x='%.2f' y='%.2f'>%.*f</text>\n", x_of(d, i * step), d->bottom + 19,
            digits, i * step);
  fprintf(d->f,
          "</g>\n</g>\n<text x='%d' y='%.2f' font-size='13' text-anchor='middle' "
          "fill='#333'>seconds</text>\n",
          LEFT + PLOT / 2, d->bottom + 37);
}

/* Names every rank, or each n-th, so that the names do not touch. */
static void draw_ranks(const svg_drawing *d) {
  int every = 1;
  while (every * d->row < 15)
    every *= 2;
  fprintf(d->f, "<g font-size='12' text-anchor='end' fill='#333'>\n");
  for (int r = 0; r < d->p->ranks; r += every)
    fprintf(d->f, "<text x='%d' y='%.2f'>%s%d</text>\n", LEFT - 8, y_of(d, r) + d->row / 2 + 4,
            r ? "" : "rank ", d->p->rank_of[r]);
  fprintf(d->f, "</g>\n");
}

/* What a span is, in words. */
static void put_span_title(const svg_drawing *d, int row, const rg_span *s) {
  const int *rank_of = d->p->rank_of;
  fprintf(d->f, "<title>rank %d ", rank_of[row]);
  if (s->kind == RG_SPAN_WORK) {
    fputs("works for ", d->f);
    rgi_timeline_legend_name(&d->legend, d->f, s->key, 0);
  } else {
    fputs(s->kind == RG_SPAN_WAIT ? "waits" : "regroups", d->f);
  }
  if (rgi_timeline_frames(d->p, s))
    fprintf(d->f, " in ranks %d to %d", rank_of[s->first], rank_of[s->first + s->size - 1]);
  else
    fprintf(d->f, " in a group of %d ranks", s->size);
  fprintf(d->f, ", %.3f to %.3f s</title>", s->start, s->end);
}

static void draw_span(const svg_drawing *d, int row, const rg_span *s) {
  double x = x_of(d, s->start), w = x_of(d, s->end) - x, y = y_of(d, row);
  if (s->kind == RG_SPAN_IDLE || w < d->thinnest)
    return;
  rgi_timeline_box box = {x, y, w, d->row};
  if (s->kind == RG_SPAN_WORK) {
    int64_t index = rgi_timeline_legend_index(&d->legend, s->key);
    fprintf(d->f, "<g class='w%lld'>", (long long)index);
    put_span_title(d, row, s);
    rgi_timeline_legend_fill(&d->legend, d->f, &box, index);
  } else {
    fputs("<g>", d->f);
    put_span_title(d, row, s);
    fprintf(d->f, "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='%s'/>", x, y, w, d->row,
            s->kind == RG_SPAN_WAIT ? RGI_TIMELINE_WAITS : RGI_TIMELINE_REGROUPS);
  }
  fputs("</g>\n", d->f);
}

/* Spans of a rank that differ only by a gap too narrow to be seen are drawn as one. Returns how
 * many were taken. */
static int64_t join_spans(const svg_drawing *d, const rg_span *s, int64_t left, rg_span *joined) {
  int64_t taken = 1;
  *joined = s[0];
  for (int64_t next = 1; s[0].kind == RG_SPAN_WORK && next < left; next++) {
    if (x_of(d, s[next].start) - x_of(d, joined->end) > d->thinnest)
      break;
    if (s[next].group != s[0].group)
      break;
    if (s[next].kind != RG_SPAN_WORK)
      continue;
    if (s[next].key != s[0].key)
      break;
    joined->end = s[next].end;
    taken = next + 1;
  }
  return taken;
}

/* What a dead rank has recorded is lost: its row is blank up to its death. */
static void draw_lost(const svg_drawing *d) {
  for (int64_t i = 0; i < d->p->deaths; i++) {
    const rg_timeline_death *death = &d->p->death[i];
    if (d->p->counts[death->rank] == 0)
      fprintf(d->f,
              "<g><title>what rank %d did is lost</title><rect x='%d' y='%.2f' width='%.2f' "
              "height='%.2f' fill='#fff'/></g>\n",
              d->p->rank_of[death->rank], LEFT, y_of(d, death->rank),
              x_of(d, death->when > 0 ? death->when : 0) - LEFT, d->row);
  }
}

static void draw_spans(const svg_drawing *d) {
  const rgi_timeline_picture *p = d->p;
  fprintf(d->f, "<rect x='%d' y='%d' width='%.2f' height='%.2f' fill='url(#idle)'/>\n", LEFT, TOP,
          x_of(d, p->seconds) - LEFT, d->bottom - TOP);
  draw_lost(d);
  fprintf(d->f, "<g id='spans' shape-rendering='crispEdges'>\n");
  for (int r = 0; r < p->ranks; r++)
    for (int64_t i = 0; i < p->counts[r];) {
      rg_span joined;
      i += join_spans(d, p->spans + p->starts[r] + i, p->counts[r] - i, &joined);
      draw_span(d, r, &joined);
    }
  fputs("</g>\n", d->f);
  fprintf(d->f, "<g stroke='#fff' stroke-opacity='.55' stroke-width='%.2f'>\n",
          d->row > 8 ? 1 : 0.5);
  for (int r = 1; r < p->ranks; r++)
    fprintf(d->f, "<path d='M%d %.2fh%.2f'/>", LEFT, y_of(d, r), x_of(d, p->seconds) - LEFT);
  fputs("\n</g>\n", d->f);
}

/* A frame around the span of a group on so many rows, with the number of its ranks if there are
 * several and there is room. */
static void draw_group(const svg_drawing *d, const rg_span *s, double end, int row, int rows) {
  double x = x_of(d, s->start), w = x_of(d, end) - x, y = y_of(d, row), h = d->row * rows;
  fprintf(d->f,
          "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='none' stroke='#111' "
          "stroke-width='1.5' stroke-dasharray='%s'/>\n",
          x, y, w, h, rows == s->size ? "none" : RGI_TIMELINE_APART);
  if (w > 62 && h > 20 && s->size > 1)
    fprintf(d->f,
            "<text x='%.2f' data-x='%.2f' y='%.2f' font-size='12' text-anchor='middle' fill='#111' "
            "stroke='#fff' stroke-width='3' paint-order='stroke' stroke-linejoin='round'>%d "
            "ranks</text>\n",
            x + w / 2, x + w / 2, y + h / 2 + 4, s->size);
}

/* Whether the spans of all members before this one are lost. */
static int is_first_left(const svg_drawing *d, const rg_span *s, int row) {
  int lost = s->first;
  while (lost < row && d->p->counts[lost] == 0)
    lost++;
  return lost == row;
}

/* The first member whose spans are there has recorded a group of consecutive ranks; of others each
 * member has a frame. */
static void draw_groups(const svg_drawing *d) {
  for (int r = 0; r < d->p->ranks; r++) {
    const rg_span *s = d->p->spans + d->p->starts[r];
    for (int64_t i = 0, next; i < d->p->counts[r]; i = next) {
      for (next = i + 1; next < d->p->counts[r] && s[next].group == s[i].group;)
        next++;
      if (rgi_timeline_frames(d->p, &s[i]) && is_first_left(d, &s[i], r))
        draw_group(d, &s[i], s[next - 1].end, s[i].first, s[i].size);
      else if (rgi_timeline_is_apart(d->p, &s[i]))
        draw_group(d, &s[i], s[next - 1].end, r, 1);
    }
  }
}

static void draw_line(const svg_drawing *d, double seconds, const char *what, int before) {
  double x = x_of(d, seconds);
  fprintf(d->f,
          "<path d='M%.2f %d V%.2f' stroke='#c00' stroke-width='2' stroke-dasharray='%s'/>"
          "<text x='%.2f' data-x='%.2f' y='%d' font-size='13' fill='#c00' text-anchor='%s'>%s %.2f "
          "s</text>\n",
          x, TOP - 8, d->bottom, before ? "6 4" : "none", x + (before ? -4 : 4), x, TOP - 12,
          before ? "end" : "start", what, seconds);
}

/* Both labels stand side by side on the left when the end leaves no room. */
static void draw_lines(const svg_drawing *d) {
  if (d->p->ideal > 0)
    draw_line(d, d->p->ideal, "ideal", 1);
  draw_line(d, d->p->seconds, "end", 0);
}

/* A cross where a rank has died, and nothing but grey behind it. */
static void draw_deaths(const svg_drawing *d) {
  for (int64_t i = 0; i < d->p->deaths; i++) {
    const rg_timeline_death *death = &d->p->death[i];
    double x = x_of(d, death->when), top = y_of(d, death->rank), y = top + d->row / 2;
    double end = x_of(d, d->p->seconds), arm = d->row < 14 ? d->row / 2 : 7;
    fprintf(d->f,
            "<g><title>rank %d died at %.3f s</title><rect x='%.2f' y='%.2f' width='%.2f' "
            "height='%.2f' fill='" RGI_TIMELINE_DEAD
            "'/><path data-x='%.2f' d='M%.2f %.2fl%.2f %.2fm0 %.2fl%.2f "
            "%.2f' stroke='#c00' stroke-width='3'/></g>\n",
            d->p->rank_of[death->rank], death->when, x, top, end > x ? end - x : 0, d->row, x,
            x - arm, y - arm, 2 * arm, 2 * arm, -2 * arm, -2 * arm, 2 * arm);
  }
}

static void draw_head(const svg_drawing *d, double height) {
  if (!d->p->page)
    fputs("<?xml version='1.0' encoding='UTF-8'?>\n", d->f);
  fputs("<svg xmlns='http://www.w3.org/2000/svg' id='timeline' ", d->f);
  if (!d->p->page) /* else as wide as the screen */
    fprintf(d->f, "width='%d' height='%.0f' ", WIDTH, height);
  fprintf(d->f,
          "viewBox='0 0 %d %.0f' font-family='DejaVu Sans,Helvetica,Arial,sans-serif'>\n<title>",
          WIDTH, height);
  rgi_xml_text(d->f, d->p->title);
  fputs("</title>\n", d->f);
  rgi_timeline_legend_define(d->f);
  fprintf(d->f,
          "<rect width='100%%' height='100%%' fill='#fff'/>\n<text x='%d' y='28' "
          "font-size='20' font-weight='bold' fill='#111'>",
          LEFT);
  rgi_xml_text(d->f, d->p->title);
  fprintf(d->f, "</text>\n<text x='%d' y='50' font-size='14' fill='#444'>", LEFT);
  rgi_xml_text(d->f, d->p->subtitle);
  fputs("</text>\n", d->f);
}

static void draw_plot(const svg_drawing *d) {
  if (d->p->page)
    fprintf(d->f,
            "<svg id='plot' data-seconds='%.9g' data-bottom='%.2f' x='%d' y='%d' width='%d' "
            "height='%.2f' viewBox='%d %d %d %.2f' preserveAspectRatio='none'>\n",
            d->axis, d->bottom, LEFT, TOP - HEAD, PLOT, d->bottom - TOP + HEAD, LEFT, TOP - HEAD,
            PLOT, d->bottom - TOP + HEAD);
  draw_spans(d);
  draw_groups(d);
  draw_deaths(d);
  draw_lines(d);
  if (d->p->page)
    fputs("</svg>\n", d->f);
}

/* Rows of 4 to 26 pixels: text stays readable, and 64 ranks fit a screen. */
static double row_height(int ranks) {
  double row = 672.0 / ranks;
  return row > 26 ? 26 : row < 4 ? 4 : row;
}

int rgi_timeline_svg(FILE *f, const rgi_timeline_picture *p) {
  svg_drawing d = {.f = f, .p = p, .row = row_height(p->ranks)};
  if (!rgi_timeline_legend_open(&d.legend, p, LEFT, PLOT))
    return 0;
  double longest = p->seconds > p->ideal ? p->seconds : p->ideal;
  d.axis = longest > 0 ? 1.08 * longest : 1;
  d.bottom = TOP + d.row * p->ranks;
  d.thinnest = p->page ? THINNEST / ZOOM : THINNEST;
  draw_head(&d, d.bottom + 62 + rgi_timeline_legend_height(&d.legend));
  draw_plot(&d);
  draw_axes(&d);
  draw_ranks(&d);
  rgi_timeline_legend_draw(&d.legend, f, d.bottom + 54);
  fputs("</svg>\n", f);
  rgi_timeline_legend_close(&d.legend);
  return !ferror(f);
}
