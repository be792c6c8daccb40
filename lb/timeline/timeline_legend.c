/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The walkers of a picture. Eight colours, four textures and four shades make 128 ways to tell
 * walkers apart; of more walkers the colours repeat. The legend's columns are as wide as the
 * longest name needs, so that 100 walkers take a few rows. */
#include "timeline/timeline_picture.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

/* Eight colours that colour-blind readers can tell apart (after Okabe and Ito, and Tol). */
static const unsigned colours[] = {0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7,
                                   0x56b4e9, 0xd55e00, 0xf0e442, 0x882255};
/* Mixed with so much of white or black. */
static const struct {
  unsigned with;
  double share;
} shades[] = {{0, 0}, {0xffffff, 0.45}, {0, 0.35}, {0, 0.62}};
enum { COLOURS = 8, TEXTURES = 4, SHADES = 4 };
enum { MOST_NAMED = COLOURS * TEXTURES * SHADES, MANY = 40, LONGEST = 30 };
enum { OTHERS = 5 };

/* --- the walkers ------------------------------------------------------------------------------ */

static int compare_keys(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* All spans' keys, sorted, each once. */
static int find_walkers(rgi_timeline_legend *legend) {
  const rgi_timeline_picture *picture = legend->p;
  int64_t spans = 0, n = 0;
  for (int r = 0; r < picture->ranks; r++)
    spans += picture->counts[r];
  legend->keys = malloc(sizeof *legend->keys * (size_t)(spans + 1));
  if (!legend->keys)
    return 0;
  for (int64_t i = 0; i < spans; i++)
    if (picture->spans[i].kind == RG_SPAN_WORK &&
        (n == 0 || legend->keys[n - 1] != picture->spans[i].key))
      legend->keys[n++] = picture->spans[i].key;
  qsort(legend->keys, (size_t)n, sizeof *legend->keys, compare_keys);
  for (int64_t i = 0; i < n; i++)
    if (i == 0 || legend->keys[i] != legend->keys[legend->walkers - 1])
      legend->keys[legend->walkers++] = legend->keys[i];
  return 1;
}

int64_t rgi_timeline_legend_index(const rgi_timeline_legend *legend, int64_t key) {
  const int64_t *found =
      bsearch(&key, legend->keys, (size_t)legend->walkers, sizeof *legend->keys, compare_keys);
  return found ? found - legend->keys : 0;
}

/* A name that is too long ends with an ellipsis, after a whole character of UTF-8. */
void rgi_timeline_legend_name(const rgi_timeline_legend *legend, FILE *file, int64_t key,
                              size_t most) {
  const rg_timeline_walker *walker = rgi_timeline_find_walker(legend->p, key);
  if (!walker || !walker->name) {
    fprintf(file, "walker %lld", (long long)key);
  } else if (most == 0 || strlen(walker->name) <= most) {
    rgi_escape_xml(file, walker->name);
  } else {
    char start[LONGEST + 1];
    size_t n = most < LONGEST ? most - 1 : LONGEST - 1;
    while (n > 0 && ((unsigned char)walker->name[n] & 0xc0) == 0x80)
      n--;
    memcpy(start, walker->name, n);
    start[n] = 0;
    rgi_escape_xml(file, start);
    fputs("\xe2\x80\xa6", file);
  }
}

static size_t name_length(const rgi_timeline_legend *legend, int64_t key) {
  const rg_timeline_walker *walker = rgi_timeline_find_walker(legend->p, key);
  size_t n = walker && walker->name ? strlen(walker->name)
                                    : (size_t)snprintf(NULL, 0, "walker %lld", (long long)key);
  return n < LONGEST ? n : LONGEST;
}

/* --- colours ---------------------------------------------------------------------------------- */

static unsigned mix(unsigned a, unsigned b, double share) {
  unsigned mixed = 0;
  for (int bit = 0; bit < 24; bit += 8) {
    double x = (a >> bit & 0xff) * (1 - share) + (b >> bit & 0xff) * share;
    mixed |= (unsigned)(x + 0.5) << bit;
  }
  return mixed;
}

static void put_box(FILE *file, const rgi_timeline_box *box) {
  fprintf(file, "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' ", box->x, box->y, box->width,
          box->height);
}

void rgi_timeline_legend_fill(const rgi_timeline_legend *legend, FILE *file,
                              const rgi_timeline_box *box, int64_t index) {
  int64_t key = index < legend->walkers ? legend->keys[index] : 0;
  const rg_timeline_walker *walker = rgi_timeline_find_walker(legend->p, key);
  int texture = (int)(index / COLOURS % TEXTURES);
  int shade = (int)(index / COLOURS / TEXTURES % SHADES);
  put_box(file, box);
  if (walker && walker->colour) {
    fprintf(file, "fill='%s'/>", walker->colour);
    return;
  }
  fprintf(file, "fill='#%06x'/>",
          mix(colours[index % COLOURS], shades[shade].with, shades[shade].share));
  if (texture) {
    put_box(file, box);
    fprintf(file, "fill='url(#t%d)'/>", texture);
  }
}

/* data-turn: the page's script scales them back when it scales the picture. */
void rgi_timeline_legend_define(FILE *file) {
  fputs("<defs>\n"
        "<pattern id='idle' width='7' height='7' patternUnits='userSpaceOnUse' "
        "patternTransform='rotate(45)' data-turn='rotate(45)'>"
        "<rect width='7' height='7' fill='#f1f1f1'/>"
        "<path d='M0 0V7' stroke='#d4d4d4' stroke-width='2'/></pattern>\n"
        "<pattern id='t1' width='6' height='6' patternUnits='userSpaceOnUse' "
        "patternTransform='rotate(-45)' data-turn='rotate(-45)'>"
        "<path d='M1 0V6' stroke='#fff' stroke-opacity='.6' stroke-width='2'/></pattern>\n"
        "<pattern id='t2' width='6' height='6' patternUnits='userSpaceOnUse'>"
        "<circle cx='3' cy='3' r='1.4' fill='#fff' fill-opacity='.75'/></pattern>\n"
        "<pattern id='t3' width='6' height='6' patternUnits='userSpaceOnUse'>"
        "<path d='M1 0V6M0 1H6' stroke='#fff' stroke-opacity='.6' stroke-width='1'/></pattern>\n"
        "</defs>\n",
        file);
}

/* --- the legend ------------------------------------------------------------------------------- */

static int64_t named(const rgi_timeline_legend *legend) {
  return legend->walkers < MOST_NAMED ? legend->walkers : MOST_NAMED;
}

/* Idle, regrouping, waiting, and what else there is. */
static int others(const rgi_timeline_legend *legend) {
  return 3 + legend->apart + legend->dead;
}

int rgi_timeline_legend_open(rgi_timeline_legend *legend, const rgi_timeline_picture *picture,
                             double left, double width) {
  size_t longest = strlen("regrouping");
  *legend = (rgi_timeline_legend){.p = picture, .left = left, .width = width};
  if (!find_walkers(legend))
    return 0;
  legend->dead = picture->deaths > 0;
  for (int r = 0; r < picture->ranks; r++)
    for (int64_t i = 0; i < picture->counts[r]; i++)
      legend->apart |= rgi_timeline_is_apart(picture, &picture->spans[picture->starts[r] + i]);
  longest = legend->apart ? strlen("ranks of one group") : longest;
  legend->small = legend->walkers > MANY;
  for (int64_t i = 0; i < named(legend); i++)
    longest = name_length(legend, legend->keys[i]) > longest ? name_length(legend, legend->keys[i])
                                                             : longest;
  double column = (legend->small ? 6.6 : 7.8) * (double)longest + (legend->small ? 30 : 44);
  legend->columns = column > width ? 1 : (int)(width / column);
  return 1;
}

void rgi_timeline_legend_close(rgi_timeline_legend *legend) {
  free(legend->keys);
}

static double row_height(const rgi_timeline_legend *legend) {
  return legend->small ? 18 : 24;
}

double rgi_timeline_legend_height(const rgi_timeline_legend *legend) {
  int64_t items = named(legend) + others(legend) + (legend->walkers > named(legend));
  return row_height(legend) * (double)((items + legend->columns - 1) / legend->columns);
}

static rgi_timeline_box place_of(const rgi_timeline_legend *legend, int64_t item, double y) {
  return (rgi_timeline_box){.x = legend->left +
                                 (double)(item % legend->columns) * legend->width / legend->columns,
                            .y = y + (double)(item / legend->columns) * row_height(legend),
                            .width = legend->small ? 16 : 20,
                            .height = legend->small ? 12 : 15};
}

static void begin_text(const rgi_timeline_box *box, FILE *file) {
  fprintf(file, "<text x='%.2f' y='%.2f'>", box->x + box->width + 6, box->y + box->height - 3);
}

static void draw_walker(const rgi_timeline_legend *legend, FILE *file, double y, int64_t index) {
  rgi_timeline_box box = place_of(legend, index, y);
  fprintf(file, "<g class='walker' data-walker='w%lld'><title>", (long long)index);
  rgi_timeline_legend_name(legend, file, legend->keys[index], 0);
  fputs("</title>", file);
  rgi_timeline_legend_fill(legend, file, &box, index);
  put_box(file, &box);
  fputs("fill='none' stroke='#111'/>", file);
  begin_text(&box, file);
  rgi_timeline_legend_name(legend, file, legend->keys[index], LONGEST);
  fputs("</text></g>\n", file);
}

/* Other spans, and what is drawn over spans. */
static int list_others(const rgi_timeline_legend *legend, const char *fill[], const char *name[]) {
  int n = 0;
  fill[n] = "url(#idle)";
  name[n++] = "idle";
  fill[n] = RGI_TIMELINE_REGROUPS;
  name[n++] = "regrouping";
  fill[n] = RGI_TIMELINE_WAITS;
  name[n++] = "waiting";
  fill[n] = RGI_TIMELINE_DEAD;
  name[n] = "dead";
  n += legend->dead;
  fill[n] = NULL;
  name[n] = "ranks of one group";
  return n + legend->apart;
}

void rgi_timeline_legend_draw(const rgi_timeline_legend *legend, FILE *file, double y) {
  const char *fill[OTHERS], *name[OTHERS];
  int n = list_others(legend, fill, name);
  fprintf(file, "<g font-size='%d' fill='#333'>\n", legend->small ? 11 : 13);
  for (int64_t i = 0; i < named(legend); i++)
    draw_walker(legend, file, y, i);
  for (int i = 0; i < n; i++) {
    rgi_timeline_box box = place_of(legend, named(legend) + i, y);
    put_box(file, &box);
    fprintf(file, "fill='%s' stroke='#111' stroke-dasharray='%s'/>", fill[i] ? fill[i] : "none",
            fill[i] ? "none" : RGI_TIMELINE_APART);
    begin_text(&box, file);
    fprintf(file, "%s</text>\n", name[i]);
  }
  if (legend->walkers > named(legend)) {
    rgi_timeline_box box = place_of(legend, named(legend) + n, y);
    begin_text(&box, file);
    fprintf(file, "and %lld more walkers</text>\n", (long long)(legend->walkers - named(legend)));
  }
  fputs("</g>\n", file);
}
