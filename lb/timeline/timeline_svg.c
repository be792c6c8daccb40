/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Draws gathered spans as an SVG picture: one row for each rank, coloured by the walker
 * it works for. Self-contained: no script, no font, no link. */
#include <math.h>
#include <stdlib.h>

#include "base/xml.h"
#include "timeline/timeline.h"

/* Eight colours that colour-blind readers can tell apart (after Okabe and Ito, and Tol). From the
 * ninth walker on they come with textures. */
static const char *const colours[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                      "#56b4e9", "#d55e00", "#f0e442", "#882255"};
enum { COLOURS = 8, TEXTURES = 4, WIDTH = 1200, LEFT = 70, RIGHT = 24, TOP = 84, LEGEND_ROW = 24 };

#define REGROUPS "#777"
#define WAITS "#c4c4c4"
#define PLOT (WIDTH - LEFT - RIGHT)
#define THINNEST 0.4 /* pixels: what is narrower cannot be seen */

typedef struct {
  FILE *f;
  const rgi_timeline_picture *p;
  double axis; /* seconds at the right edge */
  double row;  /* height of a rank's row */
  double bottom;
  int64_t *keys; /* keys of the walkers, sorted */
  int walkers;
} svg_drawing;

static double x_of(const svg_drawing *d, double seconds) {
  return LEFT + PLOT * seconds / d->axis;
}

static double y_of(const svg_drawing *d, int rank) {
  return TOP + d->row * rank;
}

static int compare_keys(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* All spans' keys, sorted, each once. */
static int find_walkers(svg_drawing *d, const rg_span spans[], size_t count) {
  size_t n = 0;
  d->keys = malloc(sizeof *d->keys * (count ? count : 1));
  if (!d->keys)
    return 0;
  for (size_t i = 0; i < count; i++)
    if (spans[i].kind == RG_SPAN_WORK && (n == 0 || d->keys[n - 1] != spans[i].key))
      d->keys[n++] = spans[i].key;
  qsort(d->keys, n, sizeof *d->keys, compare_keys);
  for (size_t i = 0; i < n; i++)
    if (i == 0 || d->keys[i] != d->keys[d->walkers - 1])
      d->keys[d->walkers++] = d->keys[i];
  return 1;
}

static int index_of(const svg_drawing *d, int64_t key) {
  const int64_t *found = bsearch(&key, d->keys, (size_t)d->walkers, sizeof *d->keys, compare_keys);
  return found ? (int)(found - d->keys) : 0;
}

static void define_textures(FILE *f) {
  fputs("<defs>\n"
        "<pattern id='idle' width='7' height='7' patternUnits='userSpaceOnUse' "
        "patternTransform='rotate(45)'><rect width='7' height='7' fill='#f1f1f1'/>"
        "<path d='M0 0V7' stroke='#d4d4d4' stroke-width='2'/></pattern>\n"
        "<pattern id='t1' width='6' height='6' patternUnits='userSpaceOnUse' "
        "patternTransform='rotate(-45)'><path d='M1 0V6' stroke='#fff' stroke-opacity='.6' "
        "stroke-width='2'/></pattern>\n"
        "<pattern id='t2' width='6' height='6' patternUnits='userSpaceOnUse'>"
        "<circle cx='3' cy='3' r='1.4' fill='#fff' fill-opacity='.75'/></pattern>\n"
        "<pattern id='t3' width='6' height='6' patternUnits='userSpaceOnUse'>"
        "<path d='M1 0V6M0 1H6' stroke='#fff' stroke-opacity='.6' stroke-width='1'/></pattern>\n"
        "</defs>\n",
        f);
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
  fprintf(d->f, "<g stroke='#bbb' stroke-width='1'>\n");
  for (int i = 0; i * step <= d->axis; i++)
    fprintf(d->f, "<path d='M%.2f %.2fv5'/>\n", x_of(d, i * step), d->bottom);
  fprintf(d->f, "</g>\n<g font-size='13' text-anchor='middle' fill='#333'>\n");
  for (int i = 0; i * step <= d->axis; i++)
    fprintf(d->f, "<text x='%.2f' y='%.2f'>%.*f</text>\n", x_of(d, i * step), d->bottom + 19,
            digits, i * step);
  fprintf(d->f, "<text x='%d' y='%.2f'>seconds</text>\n</g>\n", LEFT + PLOT / 2, d->bottom + 37);
}

/* Names every rank, or each n-th, so that the names do not touch. */
static void draw_ranks(const svg_drawing *d) {
  int every = 1;
  while (every * d->row < 15)
    every *= 2;
  fprintf(d->f, "<g font-size='12' text-anchor='end' fill='#333'>\n");
  for (int r = 0; r < d->p->ranks; r += every)
    fprintf(d->f, "<text x='%d' y='%.2f'>%s%d</text>\n", LEFT - 8, y_of(d, r) + d->row / 2 + 4,
            r ? "" : "rank ", r);
  fprintf(d->f, "</g>\n");
}

typedef struct {
  double x, y, width, height;
} svg_rectangle;

/* In the colour and with the texture of a walker. */
static void fill_rectangle(const svg_drawing *d, svg_rectangle r, int index) {
  int texture = index / COLOURS % TEXTURES;
  fprintf(d->f, "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='%s'/>", r.x, r.y, r.width,
          r.height, colours[index % COLOURS]);
  if (texture)
    fprintf(d->f, "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='url(#t%d)'/>", r.x, r.y,
            r.width, r.height, texture);
}

static void draw_span(const svg_drawing *d, int rank, const rg_span *s) {
  double x = x_of(d, s->start), w = x_of(d, s->end) - x, y = y_of(d, rank);
  if (s->kind == RG_SPAN_IDLE || w < THINNEST)
    return;
  fputs("<g><title>", d->f);
  if (s->kind == RG_SPAN_WORK)
    fprintf(d->f, "rank %d works for walker %lld", rank, (long long)s->key);
  else
    fprintf(d->f, "rank %d %s", rank, s->kind == RG_SPAN_WAIT ? "waits" : "regroups");
  if (s->together)
    fprintf(d->f, " in ranks %d to %lld", s->first, s->first + (long long)s->size - 1);
  else
    fprintf(d->f, " in a group of %d ranks", s->size);
  fprintf(d->f, ", %.3f to %.3f s</title>", s->start, s->end);
  if (s->kind == RG_SPAN_WORK)
    fill_rectangle(d, (svg_rectangle){x, y, w, d->row}, index_of(d, s->key));
  else
    fprintf(d->f, "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='%s'/>", x, y, w, d->row,
            s->kind == RG_SPAN_WAIT ? WAITS : REGROUPS);
  fputs("</g>\n", d->f);
}

/* Spans of a rank that differ only by a gap too narrow to be seen are drawn as one. Returns how
 * many were taken. */
static int64_t join_spans(const svg_drawing *d, const rg_span *s, int64_t left, rg_span *joined) {
  int64_t taken = 1;
  *joined = s[0];
  for (int64_t next = 1; s[0].kind == RG_SPAN_WORK && next < left; next++) {
    if (x_of(d, s[next].start) - x_of(d, joined->end) > THINNEST)
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

static void draw_spans(const svg_drawing *d, const rg_span spans[], const int64_t counts[]) {
  fprintf(d->f, "<rect x='%d' y='%d' width='%.2f' height='%.2f' fill='url(#idle)'/>\n", LEFT, TOP,
          x_of(d, d->p->seconds) - LEFT, d->bottom - TOP);
  fprintf(d->f, "<g shape-rendering='crispEdges'>\n");
  for (int r = 0; r < d->p->ranks; spans += counts[r], r++)
    for (int64_t i = 0; i < counts[r];) {
      rg_span joined;
      i += join_spans(d, spans + i, counts[r] - i, &joined);
      draw_span(d, r, &joined);
    }
  fputs("</g>\n", d->f);
  fprintf(d->f, "<g stroke='#fff' stroke-opacity='.55' stroke-width='%.2f'>\n",
          d->row > 8 ? 1 : 0.5);
  for (int r = 1; r < d->p->ranks; r++)
    fprintf(d->f, "<path d='M%d %.2fh%.2f'/>", LEFT, y_of(d, r), x_of(d, d->p->seconds) - LEFT);
  fputs("\n</g>\n", d->f);
}

/* A frame around the span of a group of consecutive ranks, as its first rank recorded it, with the
 * number of ranks if there is room. */
static void draw_group(const svg_drawing *d, const rg_span *s, double end) {
  double x = x_of(d, s->start), w = x_of(d, end) - x, y = y_of(d, s->first), h = d->row * s->size;
  fprintf(d->f,
          "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' fill='none' stroke='#111' "
          "stroke-width='1.5'/>\n",
          x, y, w, h);
  if (w > 62 && h > 20)
    fprintf(d->f,
            "<text x='%.2f' y='%.2f' font-size='12' text-anchor='middle' fill='#111' "
            "stroke='#fff' stroke-width='3' paint-order='stroke' stroke-linejoin='round'>%d "
            "rank%s</text>\n",
            x + w / 2, y + h / 2 + 4, s->size, s->size == 1 ? "" : "s");
}

static void draw_groups(const svg_drawing *d, const rg_span spans[], const int64_t counts[]) {
  for (int r = 0; r < d->p->ranks; spans += counts[r], r++)
    for (int64_t i = 0, next; i < counts[r]; i = next) {
      for (next = i + 1; next < counts[r] && spans[next].group == spans[i].group;)
        next++;
      if (spans[i].first == r && spans[i].together)
        draw_group(d, &spans[i], spans[next - 1].end);
    }
}

static void draw_line(const svg_drawing *d, double seconds, const char *what, int before) {
  double x = x_of(d, seconds);
  fprintf(d->f,
          "<path d='M%.2f %d V%.2f' stroke='#c00' stroke-width='2' stroke-dasharray='%s'/>"
          "<text x='%.2f' y='%d' font-size='13' fill='#c00' text-anchor='%s'>%s %.2f s</text>\n",
          x, TOP - 8, d->bottom, before ? "6 4" : "none", x + (before ? -4 : 4), TOP - 12,
          before ? "end" : "start", what, seconds);
}

/* Both labels stand side by side on the left when the end leaves no room. */
static void draw_lines(const svg_drawing *d) {
  if (d->p->ideal > 0)
    draw_line(d, d->p->ideal, "ideal", 1);
  draw_line(d, d->p->seconds, "end", 0);
}

/* A cross where a rank has died, and nothing but a grey line behind it. */
static void draw_deaths(const svg_drawing *d) {
  for (int i = 0; i < d->p->deaths; i++) {
    const rg_timeline_death *death = &d->p->death[i];
    double x = x_of(d, death->when), y = y_of(d, death->rank) + d->row / 2;
    double end = x_of(d, d->p->seconds), arm = d->row < 14 ? d->row / 2 : 7;
    fprintf(d->f,
            "<g><title>rank %d died at %.3f s</title><path d='M%.2f %.2fH%.2f' stroke='#999' "
            "stroke-width='%.2f'/><path d='M%.2f %.2fl%.2f %.2fm0 %.2fl%.2f %.2f' stroke='#c00' "
            "stroke-width='3'/></g>\n",
            death->rank, death->when, x, y, end > x ? end : x, d->row, x - arm, y - arm, 2 * arm,
            2 * arm, -2 * arm, -2 * arm, 2 * arm);
  }
}

static int legend_columns(void) {
  return (WIDTH - LEFT) / 140;
}

/* How many walkers the legend names; the others are only counted. */
static int legend_walkers(const svg_drawing *d) {
  return d->walkers < 64 ? d->walkers : 64;
}

static void legend_text(const svg_drawing *d, int item, const char *format, long long number) {
  double x = LEFT + item % legend_columns() * 140;
  double y = d->bottom + 54 + item / legend_columns() * LEGEND_ROW;
  fprintf(d->f, "<text x='%.2f' y='%.2f'>", x + 26, y + 12);
  fprintf(d->f, format, number);
  fputs("</text>\n", d->f);
}

static void draw_legend(const svg_drawing *d) {
  int shown = legend_walkers(d), item;
  fputs("<g font-size='13' fill='#333'>\n", d->f);
  for (item = 0; item < shown + 3; item++) {
    double x = LEFT + item % legend_columns() * 140;
    double y = d->bottom + 54 + item / legend_columns() * LEGEND_ROW;
    if (item < shown)
      fill_rectangle(d, (svg_rectangle){x, y, 20, 15}, item);
    fprintf(d->f, "<rect x='%.2f' y='%.2f' width='20' height='15' fill='%s' stroke='#111'/>", x, y,
            item < shown        ? "none"
            : item == shown     ? "url(#idle)"
            : item == shown + 1 ? REGROUPS
                                : WAITS);
    legend_text(d, item,
                item < shown        ? "walker %lld"
                : item == shown     ? "idle"
                : item == shown + 1 ? "regrouping"
                                    : "waiting",
                item < shown ? (long long)d->keys[item] : 0);
  }
  if (d->walkers > shown)
    legend_text(d, item, "and %lld more walkers", d->walkers - shown);
  fputs("</g>\n", d->f);
}

static void draw_head(const svg_drawing *d, double height) {
  fprintf(d->f,
          "<?xml version='1.0' encoding='UTF-8'?>\n"
          "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%.0f' viewBox='0 0 %d %.0f' "
          "font-family='DejaVu Sans,Helvetica,Arial,sans-serif'>\n<title>",
          WIDTH, height, WIDTH, height);
  rgi_xml_text(d->f, d->p->title);
  fputs("</title>\n", d->f);
  define_textures(d->f);
  fprintf(d->f,
          "<rect width='100%%' height='100%%' fill='#fff'/>\n<text x='%d' y='28' "
          "font-size='20' font-weight='bold' fill='#111'>",
          LEFT);
  rgi_xml_text(d->f, d->p->title);
  fprintf(d->f, "</text>\n<text x='%d' y='50' font-size='14' fill='#444'>", LEFT);
  rgi_xml_text(d->f, d->p->subtitle);
  fputs("</text>\n", d->f);
}

/* Rows of 4 to 26 pixels: text stays readable, and 64 ranks fit a screen. */
static double row_height(int ranks) {
  double row = 672.0 / ranks;
  return row > 26 ? 26 : row < 4 ? 4 : row;
}

int rgi_timeline_svg(FILE *f, const rgi_timeline_picture *p) {
  const rg_span *spans = p->spans;
  const int64_t *counts = p->counts;
  svg_drawing d = {.f = f, .p = p, .row = row_height(p->ranks)};
  size_t count = 0;
  for (int r = 0; r < p->ranks; r++)
    count += (size_t)counts[r];
  if (!find_walkers(&d, spans, count))
    return 0;
  double longest = p->seconds > p->ideal ? p->seconds : p->ideal;
  d.axis = longest > 0 ? 1.08 * longest : 1;
  d.bottom = TOP + d.row * p->ranks;
  int rows = (legend_walkers(&d) + 3 + (d.walkers > legend_walkers(&d))) / legend_columns() + 1;
  draw_head(&d, d.bottom + 62 + rows * LEGEND_ROW);
  draw_spans(&d, spans, counts);
  draw_groups(&d, spans, counts);
  draw_deaths(&d);
  draw_lines(&d);
  draw_axes(&d);
  draw_ranks(&d);
  draw_legend(&d);
  fputs("</svg>\n", f);
  free(d.keys);
  return !ferror(f);
}
