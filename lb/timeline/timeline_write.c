/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Writes a gathered timeline as JSON or as a Chrome trace, and chooses the format. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "timeline/timeline.h"

static const char *const names[] = {"idle", "regroup", "work", "wait"};
enum { KINDS = 4 };

static const char *name_of(const rg_span *s) {
  return s->kind >= 0 && s->kind < KINDS ? names[s->kind] : "?";
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
      fputc(*c, f);
  fputc('"', f);
}

int rgi_timeline_chrome(FILE *f, const rgi_timeline_picture *p) {
  const rg_span *s = p->spans;
  fputs("{\"displayTimeUnit\": \"ms\", \"otherData\": {\"title\": ", f);
  put_text(f, p->title);
  fputs("}, \"traceEvents\": [\n", f);
  for (int r = 0; r < p->ranks; r++)
    fprintf(f,
            "%s{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 0, \"tid\": %d, \"args\": "
            "{\"name\": \"rank %d\"}}",
            r ? ",\n" : "", r, r);
  for (int r = 0; r < p->ranks; r++)
    for (int64_t i = 0; i < p->counts[r]; i++, s++) {
      fprintf(f, ",\n{\"ph\": \"X\", \"pid\": 0, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f, ", r,
              1e6 * s->start, 1e6 * (s->end - s->start));
      if (s->kind == RG_SPAN_WORK)
        fprintf(f, "\"name\": \"walker %lld\", ", (long long)s->key);
      else
        fprintf(f, "\"name\": \"%s\", ", name_of(s));
      fprintf(f, "\"cat\": \"%s\", \"args\": {\"group\": %d, \"first\": %d, \"size\": %d}}",
              name_of(s), s->group, s->first, s->size);
    }
  fputs("\n]}\n", f);
  return !ferror(f);
}

static void put_totals(FILE *f, const rgi_timeline_picture *p) {
  const rg_span *s = p->spans;
  for (int r = 0; r < p->ranks; r++) {
    double sum[KINDS] = {0};
    for (int64_t i = 0; i < p->counts[r]; i++, s++)
      if (s->kind >= 0 && s->kind < KINDS)
        sum[s->kind] += s->end - s->start;
    fprintf(f, "%s{\"work\": %.6f, \"regroup\": %.6f, \"wait\": %.6f, \"idle\": %.6f}",
            r ? ",\n" : "", sum[RG_SPAN_WORK], sum[RG_SPAN_REGROUP], sum[RG_SPAN_WAIT],
            sum[RG_SPAN_IDLE]);
  }
}

int rgi_timeline_json(FILE *f, const rgi_timeline_picture *p) {
  const rg_span *s = p->spans;
  fputs("{\"title\": ", f);
  put_text(f, p->title);
  fprintf(f, ", \"seconds\": %.6f, \"ideal\": %.6f, \"ranks\": %d, \"totals\": [\n", p->seconds,
          p->ideal, p->ranks);
  put_totals(f, p);
  fputs("],\n\"spans\": [\n", f);
  for (int r = 0, any = 0; r < p->ranks; r++)
    for (int64_t i = 0; i < p->counts[r]; i++, s++, any = 1)
      fprintf(f, "%s[%d, \"%s\", %.6f, %.6f, %lld, %d, %d, %d]", any ? ",\n" : "", r, name_of(s),
              s->start, s->end, (long long)s->key, s->group, s->first, s->size);
  fputs("\n]}\n", f);
  return !ferror(f);
}

static double last_end(const struct rg_timeline_s *t) {
  double last = 0;
  for (int64_t i = 0; i < t->count; i++)
    last = t->spans[i].end > last ? t->spans[i].end : last;
  return last;
}

static int write_as(FILE *f, rg_timeline_format format, const rgi_timeline_picture *p) {
  return format == RG_TIMELINE_SVG      ? rgi_timeline_svg(f, p)
         : format == RG_TIMELINE_CHROME ? rgi_timeline_chrome(f, p)
                                        : rgi_timeline_json(f, p);
}

/* A row for each rank at first; ranks that have died have no spans. */
static int64_t *counts_by_rank(rg_timeline t, const rg_timeline_words *w) {
  int64_t *counts = calloc((size_t)w->ranks, sizeof *counts);
  for (int i = 0; counts && i < t->ranks; i++)
    if (w->rank_of[i] >= 0 && w->rank_of[i] < w->ranks)
      counts[w->rank_of[i]] = t->counts[i];
  return counts;
}

int rg_timeline_write(rg_timeline t, const char *path, rg_timeline_format format,
                      const rg_timeline_words *words) {
  RGI_TRY(rgi_timeline_check(__func__, t));
  RGI_REQUIRE(path);
  if (!t->counts)
    return rgi_error(RG_ERR_ARG, "%s: the timeline has not been gathered here", __func__);
  if (format != RG_TIMELINE_SVG && format != RG_TIMELINE_CHROME && format != RG_TIMELINE_JSON)
    return rgi_error(RG_ERR_ARG, "%s: there is no format %d", __func__, (int)format);
  rg_timeline_words w = {0};
  if (words)
    RGI_TRY(rgi_sized_take(&w, sizeof w, words, "rg_timeline_write: words"));
  if (w.deaths < 0 || (w.deaths > 0 && !w.death))
    return rgi_error(RG_ERR_ARG, "%s: %d deaths, or none of them", __func__, w.deaths);
  rgi_timeline_picture p = {.title = w.title ? w.title : "Timeline",
                            .subtitle = w.subtitle ? w.subtitle : "",
                            .ranks = t->ranks,
                            .seconds = w.seconds > 0 ? w.seconds : last_end(t),
                            .ideal = w.ideal,
                            .spans = t->spans,
                            .counts = t->counts,
                            .deaths = w.deaths,
                            .death = w.death};
  int64_t *counts = NULL;
  if (w.rank_of && w.ranks > t->ranks) {
    p.counts = counts = counts_by_rank(t, &w);
    p.ranks = w.ranks;
    if (!counts)
      return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d ranks", __func__, w.ranks);
  }
  FILE *f = fopen(path, "w");
  if (!f) {
    free(counts);
    return rgi_error(RG_ERR_FILE, "%s: %s: %s", __func__, path, strerror(errno));
  }
  int good = write_as(f, format, &p);
  good = fclose(f) == 0 && good;
  free(counts);
  return good ? RG_SUCCESS : rgi_error(RG_ERR_FILE, "%s: %s could not be written", __func__, path);
}
