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
#include "base/escape.h"
#include "base/sized.h"
#include "timeline/timeline.h"

static const char *const names[] = {"idle", "regroup", "work", "wait"};
enum { KINDS = 4 };

static const char *name_of(const rg_span *span) {
  return span->kind >= 0 && span->kind < KINDS ? names[span->kind] : "?";
}

/* Of a byte that begins no character a replacement. Returns the bytes. */
static int put_character(FILE *file, const char *text) {
  int n = rgi_escape_utf8_length(text);
  fwrite(n ? text : RGI_ESCAPE_REPLACEMENT, 1, n ? (size_t)n : strlen(RGI_ESCAPE_REPLACEMENT),
         file);
  return n ? n : 1;
}

/* A text as a JSON string. */
static void put_text(FILE *file, const char *text) {
  fputc('"', file);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++)
    if (*c == '"' || *c == '\\')
      fprintf(file, "\\%c", *c);
    else if (*c < ' ')
      fprintf(file, "\\u%04x", *c);
    else
      c += put_character(file, (const char *)c) - 1;
  fputc('"', file);
}

static void put_walker(FILE *file, const rgi_timeline_picture *picture, int64_t key) {
  const rg_timeline_walker *walker = rgi_timeline_find_walker(picture, key);
  fputs("\"name\": ", file);
  if (walker && walker->name)
    put_text(file, walker->name);
  else
    fprintf(file, "\"walker %lld\"", (long long)key);
  fputs(", ", file);
}

static int write_chrome(FILE *file, const rgi_timeline_picture *picture) {
  const rg_span *span;
  fputs("{\"displayTimeUnit\": \"ms\", \"otherData\": {\"title\": ", file);
  put_text(file, picture->title);
  fputs("}, \"traceEvents\": [\n", file);
  for (int r = 0; r < picture->ranks; r++)
    fprintf(file,
            "%s{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 0, \"tid\": %d, \"args\": "
            "{\"name\": \"rank %d\"}}",
            r ? ",\n" : "", r, picture->rank_of[r]);
  for (int64_t i = 0; i < picture->deaths; i++)
    fprintf(file,
            ",\n{\"ph\": \"i\", \"s\": \"t\", \"pid\": 0, \"tid\": %d, \"ts\": %.3f, \"name\": "
            "\"death\"}",
            picture->death[i].rank, 1e6 * picture->death[i].when);
  for (int r = 0; r < picture->ranks; r++) {
    span = picture->spans + picture->starts[r];
    for (int64_t i = 0; i < picture->counts[r]; i++, span++) {
      fprintf(file, ",\n{\"ph\": \"X\", \"pid\": 0, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f, ", r,
              1e6 * span->start, 1e6 * (span->end - span->start));
      if (span->kind == RG_SPAN_WORK)
        put_walker(file, picture, span->key);
      else
        fprintf(file, "\"name\": \"%s\", ", name_of(span));
      fprintf(file, "\"cat\": \"%s\", \"args\": {\"group\": %d, \"first\": %d, \"size\": %d}}",
              name_of(span), span->group, span->first, span->size);
    }
  }
  fputs("\n]}\n", file);
  return !ferror(file);
}

static void put_totals(FILE *file, const rgi_timeline_picture *picture) {
  for (int r = 0; r < picture->ranks; r++) {
    const rg_span *span = picture->spans + picture->starts[r];
    double sum[KINDS] = {0};
    for (int64_t i = 0; i < picture->counts[r]; i++, span++)
      if (span->kind >= 0 && span->kind < KINDS)
        sum[span->kind] += span->end - span->start;
    fprintf(file, "%s{\"work\": %.6f, \"regroup\": %.6f, \"wait\": %.6f, \"idle\": %.6f}",
            r ? ",\n" : "", sum[RG_SPAN_WORK], sum[RG_SPAN_REGROUP], sum[RG_SPAN_WAIT],
            sum[RG_SPAN_IDLE]);
  }
}

/* The deaths, the ranks of the rows, and the names of walkers. */
static void put_names(FILE *file, const rgi_timeline_picture *picture) {
  int any = 0;
  fputs("\"deaths\": [", file);
  for (int64_t i = 0; i < picture->deaths; i++)
    fprintf(file, "%s[%d, %.6f]", i ? ", " : "", picture->death[i].rank, picture->death[i].when);
  fputs("],\n\"rows\": [", file);
  for (int r = 0; r < picture->ranks; r++)
    fprintf(file, "%s%d", r ? ", " : "", picture->rank_of[r]);
  fputs("],\n\"names\": {", file);
  for (int64_t i = 0; i < picture->walkers; i++) {
    if (!picture->walker[i].name)
      continue;
    fprintf(file, "%s\"%lld\": ", any++ ? ", " : "", (long long)picture->walker[i].key);
    put_text(file, picture->walker[i].name);
  }
  fputs("}", file);
}

static int write_json(FILE *file, const rgi_timeline_picture *picture) {
  int any = 0;
  fputs("{\"title\": ", file);
  put_text(file, picture->title);
  fprintf(file, ", \"seconds\": %.6f, \"ideal\": %.6f, \"ranks\": %d, \"totals\": [\n",
          picture->seconds, picture->ideal, picture->ranks);
  put_totals(file, picture);
  fputs("],\n\"spans\": [\n", file);
  for (int r = 0; r < picture->ranks; r++) {
    const rg_span *span = picture->spans + picture->starts[r];
    for (int64_t i = 0; i < picture->counts[r]; i++, span++)
      fprintf(file, "%s[%d, \"%s\", %.6f, %.6f, %lld, %d, %d, %d]", any++ ? ",\n" : "", r,
              name_of(span), span->start, span->end, (long long)span->key, span->group, span->first,
              span->size);
  }
  fputs("\n],\n", file);
  put_names(file, picture);
  fputs("}\n", file);
  return !ferror(file);
}

/* --- what is drawn ---------------------------------------------------------------------------- */

static double last_end(const struct rg_timeline_s *timeline) {
  double last = 0;
  for (int64_t i = 0; i < timeline->count; i++)
    last = timeline->spans[i].end > last ? timeline->spans[i].end : last;
  return last;
}

/* What a picture needs beside what it points to. */
typedef struct {
  int64_t *starts, *counts;
  int *rank_of;
  rg_timeline_death *death;
  rg_timeline_walker *walker;
} picture_parts;

static void free_parts(picture_parts *parts) {
  free(parts->starts);
  free(parts->counts);
  free(parts->rank_of);
  free(parts->death);
  free(parts->walker);
}

/* The rows that the program names, or those that were found when the spans were gathered. */
static int has_own_rows(rg_timeline timeline, const rg_timeline_words *words) {
  return words->rank_of && words->ranks > timeline->ranks && timeline->rows == timeline->ranks;
}

static int make_parts(rg_timeline timeline, const rg_timeline_words *words, int rows,
                      picture_parts *parts) {
  parts->starts = calloc((size_t)rows, sizeof *parts->starts);
  parts->counts = calloc((size_t)rows, sizeof *parts->counts);
  parts->rank_of = calloc((size_t)rows, sizeof *parts->rank_of);
  parts->death =
      calloc((size_t)words->deaths + (size_t)timeline->death_count + 1, sizeof *parts->death);
  parts->walker = calloc((size_t)words->walkers + 1, sizeof *parts->walker);
  return parts->starts && parts->counts && parts->rank_of && parts->death && parts->walker
             ? RG_SUCCESS
             : rgi_error(RG_ERR_NOMEM, "rg_timeline_write: no memory for %d rows", rows);
}

static void fill_rows(rg_timeline timeline, const rg_timeline_words *words, int rows,
                      picture_parts *parts) {
  int own = has_own_rows(timeline, words);
  int64_t start = 0;
  for (int r = 0; r < rows; r++)
    parts->rank_of[r] = own ? r : timeline->rank_of[r];
  for (int i = 0; i < timeline->ranks; start += timeline->counts[i], i++) {
    int row = own ? words->rank_of[i] : timeline->row_of[i];
    if (row < 0 || row >= rows)
      continue;
    parts->starts[row] = start;
    parts->counts[row] = timeline->counts[i];
  }
}

/* The program names deaths by ranks, and the picture by rows. */
static int fill_deaths(rg_timeline timeline, const rg_timeline_words *words, int rows,
                       rgi_timeline_picture *picture, picture_parts *parts) {
  picture->death = parts->death;
  picture->deaths = words->deaths ? words->deaths : timeline->death_count;
  for (int64_t i = 0; i < picture->deaths; i++) {
    parts->death[i] = words->deaths ? words->death[i] : timeline->deaths[i];
    int row = words->deaths ? 0 : parts->death[i].rank;
    while (row < rows && words->deaths && parts->rank_of[row] != parts->death[i].rank)
      row++;
    if (row >= rows)
      return rgi_error(RG_ERR_RANK, "rg_timeline_write: rank %d has died, but has no row",
                       parts->death[i].rank);
    parts->death[i].rank = row;
  }
  return RG_SUCCESS;
}

static int by_key(const void *a, const void *b) {
  const rg_timeline_walker *x = a, *y = b;
  return (x->key > y->key) - (x->key < y->key);
}

static int fill_walkers(const rg_timeline_words *words, rgi_timeline_picture *picture,
                        picture_parts *parts) {
  static const char digits[] = "0123456789abcdefABCDEF";
  if (words->walkers > 0)
    memcpy(parts->walker, words->walker, (size_t)words->walkers * sizeof *parts->walker);
  qsort(parts->walker, (size_t)words->walkers, sizeof *parts->walker, by_key);
  for (int64_t i = 0; i < words->walkers; i++) {
    const char *colour = parts->walker[i].colour;
    if (i > 0 && parts->walker[i].key == parts->walker[i - 1].key)
      return rgi_error(RG_ERR_ARG, "rg_timeline_write: walker %lld is there twice",
                       (long long)parts->walker[i].key);
    if (colour && (colour[0] != '#' || strlen(colour) != 7 || strspn(colour + 1, digits) != 6))
      return rgi_error(RG_ERR_ARG, "rg_timeline_write: walker %lld: \"%s\" is no colour #rrggbb",
                       (long long)parts->walker[i].key, colour);
  }
  picture->walker = parts->walker;
  picture->walkers = words->walkers;
  return RG_SUCCESS;
}

static int make_picture(rg_timeline timeline, const rg_timeline_words *words,
                        rgi_timeline_picture *picture, picture_parts *parts) {
  *picture =
      (rgi_timeline_picture){.title = words->title ? words->title : "Timeline",
                             .subtitle = words->subtitle ? words->subtitle : "",
                             .ranks = has_own_rows(timeline, words) ? words->ranks : timeline->rows,
                             .seconds = words->seconds > 0 ? words->seconds : last_end(timeline),
                             .ideal = words->ideal,
                             .spans = timeline->spans};
  RGI_TRY(make_parts(timeline, words, picture->ranks, parts));
  fill_rows(timeline, words, picture->ranks, parts);
  picture->starts = parts->starts;
  picture->counts = parts->counts;
  picture->rank_of = parts->rank_of;
  RGI_TRY(fill_deaths(timeline, words, picture->ranks, picture, parts));
  return fill_walkers(words, picture, parts);
}

/* --- writing ---------------------------------------------------------------------------------- */

static const struct {
  int (*write)(FILE *f, const rgi_timeline_picture *p);
} formats[] = {[RG_TIMELINE_SVG] = {rgi_timeline_svg},
               [RG_TIMELINE_CHROME] = {write_chrome},
               [RG_TIMELINE_JSON] = {write_json},
               [RG_TIMELINE_HTML] = {rgi_timeline_html}};

static int check_words(const rg_timeline_words *words) {
  if (words->deaths < 0 || (words->deaths > 0 && !words->death))
    return rgi_error(RG_ERR_ARG, "rg_timeline_write: %d deaths, or none of them", words->deaths);
  if (words->walkers < 0 || (words->walkers > 0 && !words->walker))
    return rgi_error(RG_ERR_ARG, "rg_timeline_write: %lld walkers, or none of them",
                     (long long)words->walkers);
  if (!isfinite(words->seconds) || !isfinite(words->ideal))
    return rgi_error(RG_ERR_ARG, "rg_timeline_write: %g seconds, ideal %g", words->seconds,
                     words->ideal);
  for (int i = 0; i < words->deaths; i++)
    if (!isfinite(words->death[i].when))
      return rgi_error(RG_ERR_ARG, "rg_timeline_write: rank %d has died at %g s",
                       words->death[i].rank, words->death[i].when);
  return RG_SUCCESS;
}

static int write_file(const char *path, rg_timeline_format format,
                      const rgi_timeline_picture *picture) {
  FILE *file = fopen(path, "w");
  if (!file)
    return rgi_error(RG_ERR_FILE, "rg_timeline_write: %s: %s", path, strerror(errno));
  locale_t before = rgi_c_locale_enter();
  errno = 0;
  int good = formats[format].write(file, picture), lacks_memory = !good && errno == ENOMEM;
  rgi_c_locale_leave(before);
  good = fclose(file) == 0 && good;
  if (lacks_memory)
    return rgi_error(RG_ERR_NOMEM, "rg_timeline_write: no memory for the legend");
  return good ? RG_SUCCESS
              : rgi_error(RG_ERR_FILE, "rg_timeline_write: %s could not be written", path);
}

int rg_timeline_write(rg_timeline timeline, const char *path, rg_timeline_format format,
                      const rg_timeline_words *words) {
  rg_timeline_words own = {0};
  rgi_timeline_picture picture;
  picture_parts parts = {0};
  RGI_TRY(rgi_timeline_check(__func__, timeline));
  RGI_REQUIRE(path);
  if (!timeline->counts)
    return rgi_error(RG_ERR_ARG, "%s: the timeline has not been gathered here", __func__);
  if ((size_t)format >= sizeof formats / sizeof *formats)
    return rgi_error(RG_ERR_ARG, "%s: there is no format %d", __func__, (int)format);
  if (words)
    RGI_TRY(rgi_sized_take(&own, sizeof own, words, "rg_timeline_write: words"));
  RGI_TRY(check_words(&own));
  int error = make_picture(timeline, &own, &picture, &parts);
  if (!error)
    error = write_file(path, format, &picture);
  free_parts(&parts);
  return error;
}
