/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Finds what is to be written of a gathered timeline, and writes it as JSON, as a Chrome trace, or
 * in a format of another file. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/error.h"
#include "base/sized.h"
#include "base/utf8.h"
#include "timeline/timeline.h"

static const char *const names[] = {"idle", "regroup", "work", "wait"};
enum { KINDS = 4 };

static const char *name_of(const rg_span *s) {
  return s->kind >= 0 && s->kind < KINDS ? names[s->kind] : "?";
}

/* Of a byte that begins no character a replacement. Returns the bytes. */
static int put_character(FILE *f, const char *text) {
  int n = rgi_utf8_length(text);
  fwrite(n ? text : RGI_UTF8_REPLACEMENT, 1, n ? (size_t)n : strlen(RGI_UTF8_REPLACEMENT), f);
  return n ? n : 1;
}

/* A text as a JSON string. */
static void put_text(FILE *f, const char *text) {
  fputc('"', f);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++)
    if (*c == '"' || *c == '\\')
      fprintf(f, "\\%c", *c);
    else if (*c < ' ')
      fprintf(f, "\\u%04x", *c);
    else
      c += put_character(f, (const char *)c) - 1;
  fputc('"', f);
}

static void put_walker(FILE *f, const rgi_timeline_picture *p, int64_t key) {
  const rg_timeline_walker *w = rgi_timeline_find_walker(p, key);
  fputs("\"name\": ", f);
  if (w && w->name)
    put_text(f, w->name);
  else
    fprintf(f, "\"walker %lld\"", (long long)key);
  fputs(", ", f);
}

int rgi_timeline_chrome(FILE *f, const rgi_timeline_picture *p) {
  const rg_span *s;
  fputs("{\"displayTimeUnit\": \"ms\", \"otherData\": {\"title\": ", f);
  put_text(f, p->title);
  fputs("}, \"traceEvents\": [\n", f);
  for (int r = 0; r < p->ranks; r++)
    fprintf(f,
            "%s{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 0, \"tid\": %d, \"args\": "
            "{\"name\": \"rank %d\"}}",
            r ? ",\n" : "", r, p->rank_of[r]);
  for (int64_t i = 0; i < p->deaths; i++)
    fprintf(f,
            ",\n{\"ph\": \"i\", \"s\": \"t\", \"pid\": 0, \"tid\": %d, \"ts\": %.3f, \"name\": "
            "\"death\"}",
            p->death[i].rank, 1e6 * p->death[i].when);
  for (int r = 0; r < p->ranks; r++) {
    s = p->spans + p->starts[r];
    for (int64_t i = 0; i < p->counts[r]; i++, s++) {
      fprintf(f, ",\n{\"ph\": \"X\", \"pid\": 0, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f, ", r,
              1e6 * s->start, 1e6 * (s->end - s->start));
      if (s->kind == RG_SPAN_WORK)
        put_walker(f, p, s->key);
      else
        fprintf(f, "\"name\": \"%s\", ", name_of(s));
      fprintf(f, "\"cat\": \"%s\", \"args\": {\"group\": %d, \"first\": %d, \"size\": %d}}",
              name_of(s), s->group, s->first, s->size);
    }
  }
  fputs("\n]}\n", f);
  return !ferror(f);
}

static void put_totals(FILE *f, const rgi_timeline_picture *p) {
  for (int r = 0; r < p->ranks; r++) {
    const rg_span *s = p->spans + p->starts[r];
    double sum[KINDS] = {0};
    for (int64_t i = 0; i < p->counts[r]; i++, s++)
      if (s->kind >= 0 && s->kind < KINDS)
        sum[s->kind] += s->end - s->start;
    fprintf(f, "%s{\"work\": %.6f, \"regroup\": %.6f, \"wait\": %.6f, \"idle\": %.6f}",
            r ? ",\n" : "", sum[RG_SPAN_WORK], sum[RG_SPAN_REGROUP], sum[RG_SPAN_WAIT],
            sum[RG_SPAN_IDLE]);
  }
}

/* The deaths, the ranks of the rows, and the names of walkers. */
static void put_names(FILE *f, const rgi_timeline_picture *p) {
  int any = 0;
  fputs("\"deaths\": [", f);
  for (int64_t i = 0; i < p->deaths; i++)
    fprintf(f, "%s[%d, %.6f]", i ? ", " : "", p->death[i].rank, p->death[i].when);
  fputs("],\n\"rows\": [", f);
  for (int r = 0; r < p->ranks; r++)
    fprintf(f, "%s%d", r ? ", " : "", p->rank_of[r]);
  fputs("],\n\"names\": {", f);
  for (int64_t i = 0; i < p->walkers; i++) {
    if (!p->walker[i].name)
      continue;
    fprintf(f, "%s\"%lld\": ", any++ ? ", " : "", (long long)p->walker[i].key);
    put_text(f, p->walker[i].name);
  }
  fputs("}", f);
}

int rgi_timeline_json(FILE *f, const rgi_timeline_picture *p) {
  int any = 0;
  fputs("{\"title\": ", f);
  put_text(f, p->title);
  fprintf(f, ", \"seconds\": %.6f, \"ideal\": %.6f, \"ranks\": %d, \"totals\": [\n", p->seconds,
          p->ideal, p->ranks);
  put_totals(f, p);
  fputs("],\n\"spans\": [\n", f);
  for (int r = 0; r < p->ranks; r++) {
    const rg_span *s = p->spans + p->starts[r];
    for (int64_t i = 0; i < p->counts[r]; i++, s++)
      fprintf(f, "%s[%d, \"%s\", %.6f, %.6f, %lld, %d, %d, %d]", any++ ? ",\n" : "", r, name_of(s),
              s->start, s->end, (long long)s->key, s->group, s->first, s->size);
  }
  fputs("\n],\n", f);
  put_names(f, p);
  fputs("}\n", f);
  return !ferror(f);
}

/* --- what is drawn ---------------------------------------------------------------------------- */

static double last_end(const struct rg_timeline_s *t) {
  double last = 0;
  for (int64_t i = 0; i < t->count; i++)
    last = t->spans[i].end > last ? t->spans[i].end : last;
  return last;
}

/* What a picture needs beside what it points to. */
typedef struct {
  int64_t *starts, *counts;
  int *rank_of;
  rg_timeline_death *death;
  rg_timeline_walker *walker;
} picture_parts;

static void free_parts(picture_parts *x) {
  free(x->starts);
  free(x->counts);
  free(x->rank_of);
  free(x->death);
  free(x->walker);
}

/* The rows that the program names, or those that were found when the spans were gathered. */
static int has_own_rows(rg_timeline t, const rg_timeline_words *w) {
  return w->rank_of && w->ranks > t->ranks && t->rows == t->ranks;
}

static int make_parts(rg_timeline t, const rg_timeline_words *w, int rows, picture_parts *x) {
  x->starts = calloc((size_t)rows, sizeof *x->starts);
  x->counts = calloc((size_t)rows, sizeof *x->counts);
  x->rank_of = calloc((size_t)rows, sizeof *x->rank_of);
  x->death = calloc((size_t)w->deaths + (size_t)t->death_count + 1, sizeof *x->death);
  x->walker = calloc((size_t)w->walkers + 1, sizeof *x->walker);
  return x->starts && x->counts && x->rank_of && x->death && x->walker
             ? RG_SUCCESS
             : rgi_error(RG_ERR_NOMEM, "rg_timeline_write: no memory for %d rows", rows);
}

static void fill_rows(rg_timeline t, const rg_timeline_words *w, int rows, picture_parts *x) {
  int own = has_own_rows(t, w);
  int64_t start = 0;
  for (int r = 0; r < rows; r++)
    x->rank_of[r] = own ? r : t->rank_of[r];
  for (int i = 0; i < t->ranks; start += t->counts[i], i++) {
    int row = own ? w->rank_of[i] : t->row_of[i];
    if (row < 0 || row >= rows)
      continue;
    x->starts[row] = start;
    x->counts[row] = t->counts[i];
  }
}

/* The program names deaths by ranks, and the picture by rows. */
static int fill_deaths(rg_timeline t, const rg_timeline_words *w, int rows, rgi_timeline_picture *p,
                       picture_parts *x) {
  p->death = x->death;
  p->deaths = w->deaths ? w->deaths : t->death_count;
  for (int64_t i = 0; i < p->deaths; i++) {
    x->death[i] = w->deaths ? w->death[i] : t->deaths[i];
    int row = w->deaths ? 0 : x->death[i].rank;
    while (row < rows && w->deaths && x->rank_of[row] != x->death[i].rank)
      row++;
    if (row >= rows)
      return rgi_error(RG_ERR_RANK, "rg_timeline_write: rank %d has died, but has no row",
                       x->death[i].rank);
    x->death[i].rank = row;
  }
  return RG_SUCCESS;
}

static int by_key(const void *a, const void *b) {
  const rg_timeline_walker *x = a, *y = b;
  return (x->key > y->key) - (x->key < y->key);
}

static int fill_walkers(const rg_timeline_words *w, rgi_timeline_picture *p, picture_parts *x) {
  static const char digits[] = "0123456789abcdefABCDEF";
  if (w->walkers > 0)
    memcpy(x->walker, w->walker, (size_t)w->walkers * sizeof *x->walker);
  qsort(x->walker, (size_t)w->walkers, sizeof *x->walker, by_key);
  for (int64_t i = 0; i < w->walkers; i++) {
    const char *colour = x->walker[i].colour;
    if (i > 0 && x->walker[i].key == x->walker[i - 1].key)
      return rgi_error(RG_ERR_ARG, "rg_timeline_write: walker %lld is there twice",
                       (long long)x->walker[i].key);
    if (colour && (colour[0] != '#' || strlen(colour) != 7 || strspn(colour + 1, digits) != 6))
      return rgi_error(RG_ERR_ARG, "rg_timeline_write: walker %lld: \"%s\" is no colour #rrggbb",
                       (long long)x->walker[i].key, colour);
  }
  p->walker = x->walker;
  p->walkers = w->walkers;
  return RG_SUCCESS;
}

static int make_picture(rg_timeline t, const rg_timeline_words *w, rgi_timeline_picture *p,
                        picture_parts *x) {
  *p = (rgi_timeline_picture){.title = w->title ? w->title : "Timeline",
                              .subtitle = w->subtitle ? w->subtitle : "",
                              .ranks = has_own_rows(t, w) ? w->ranks : t->rows,
                              .seconds = w->seconds > 0 ? w->seconds : last_end(t),
                              .ideal = w->ideal,
                              .spans = t->spans};
  RGI_TRY(make_parts(t, w, p->ranks, x));
  fill_rows(t, w, p->ranks, x);
  p->starts = x->starts;
  p->counts = x->counts;
  p->rank_of = x->rank_of;
  RGI_TRY(fill_deaths(t, w, p->ranks, p, x));
  return fill_walkers(w, p, x);
}

/* --- writing ---------------------------------------------------------------------------------- */

static const struct {
  int (*write)(FILE *f, const rgi_timeline_picture *p);
} formats[] = {[RG_TIMELINE_SVG] = {rgi_timeline_svg},
               [RG_TIMELINE_CHROME] = {rgi_timeline_chrome},
               [RG_TIMELINE_JSON] = {rgi_timeline_json},
               [RG_TIMELINE_HTML] = {rgi_timeline_html}};

static int check_words(const rg_timeline_words *w) {
  if (w->deaths < 0 || (w->deaths > 0 && !w->death))
    return rgi_error(RG_ERR_ARG, "rg_timeline_write: %d deaths, or none of them", w->deaths);
  if (w->walkers < 0 || (w->walkers > 0 && !w->walker))
    return rgi_error(RG_ERR_ARG, "rg_timeline_write: %lld walkers, or none of them",
                     (long long)w->walkers);
  if (!isfinite(w->seconds) || !isfinite(w->ideal))
    return rgi_error(RG_ERR_ARG, "rg_timeline_write: %g seconds, ideal %g", w->seconds, w->ideal);
  for (int i = 0; i < w->deaths; i++)
    if (!isfinite(w->death[i].when))
      return rgi_error(RG_ERR_ARG, "rg_timeline_write: rank %d has died at %g s", w->death[i].rank,
                       w->death[i].when);
  return RG_SUCCESS;
}

static int write_file(const char *path, rg_timeline_format format, const rgi_timeline_picture *p) {
  FILE *f = fopen(path, "w");
  if (!f)
    return rgi_error(RG_ERR_FILE, "rg_timeline_write: %s: %s", path, strerror(errno));
  locale_t before = rgi_c_locale_enter();
  int good = formats[format].write(f, p);
  rgi_c_locale_leave(before);
  good = fclose(f) == 0 && good;
  return good ? RG_SUCCESS
              : rgi_error(RG_ERR_FILE, "rg_timeline_write: %s could not be written", path);
}

int rg_timeline_write(rg_timeline t, const char *path, rg_timeline_format format,
                      const rg_timeline_words *words) {
  rg_timeline_words w = {0};
  rgi_timeline_picture p;
  picture_parts parts = {0};
  RGI_TRY(rgi_timeline_check(__func__, t));
  RGI_REQUIRE(path);
  if (!t->counts)
    return rgi_error(RG_ERR_ARG, "%s: the timeline has not been gathered here", __func__);
  if ((size_t)format >= sizeof formats / sizeof *formats)
    return rgi_error(RG_ERR_ARG, "%s: there is no format %d", __func__, (int)format);
  if (words)
    RGI_TRY(rgi_sized_take(&w, sizeof w, words, "rg_timeline_write: words"));
  RGI_TRY(check_words(&w));
  int error = make_picture(t, &w, &p, &parts);
  if (!error)
    error = write_file(path, format, &p);
  free_parts(&parts);
  return error;
}
