/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The walkers of a picture. Eight colours, four textures and four shades make 128 ways to tell
 * walkers apart; of more walkers the colours repeat. The legend's columns are as wide as the
 * longest name needs, so that 100 walkers take a few rows. */
#include "timeline/timeline_legend.h"

#include <stdlib.h>
#include <string.h>

#include "base/xml.h"

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
static int find_walkers(rgi_timeline_legend *l) {
  const rgi_timeline_picture *p = l->p;
  int64_t spans = 0, n = 0;
  for (int r = 0; r < p->ranks; r++)
    spans += p->counts[r];
  l->keys = malloc(sizeof *l->keys * (size_t)(spans + 1));
  if (!l->keys)
    return 0;
  for (int64_t i = 0; i < spans; i++)
    if (p->spans[i].kind == RG_SPAN_WORK && (n == 0 || l->keys[n - 1] != p->spans[i].key))
      l->keys[n++] = p->spans[i].key;
  qsort(l->keys, (size_t)n, sizeof *l->keys, compare_keys);
  for (int64_t i = 0; i < n; i++)
    if (i == 0 || l->keys[i] != l->keys[l->walkers - 1])
      l->keys[l->walkers++] = l->keys[i];
  return 1;
}

int64_t rgi_timeline_legend_index(const rgi_timeline_legend *l, int64_t key) {
  const int64_t *found = bsearch(&key, l->keys, (size_t)l->walkers, sizeof *l->keys, compare_keys);
  return found ? found - l->keys : 0;
}

/* A name that is too long ends with an ellipsis, after a whole character of UTF-8. */
void rgi_timeline_legend_name(const rgi_timeline_legend *l, FILE *f, int64_t key, size_t most) {
  const rg_timeline_walker *w = rgi_timeline_find_walker(l->p, key);
  if (!w || !w->name) {
    fprintf(f, "walker %lld", (long long)key);
  } else if (most == 0 || strlen(w->name) <= most) {
    rgi_xml_text(f, w->name);
  } else {
    char start[LONGEST + 1];
    size_t n = most < LONGEST ? most - 1 : LONGEST - 1;
    while (n > 0 && ((unsigned char)w->name[n] & 0xc0) == 0x80)
      n--;
    memcpy(start, w->name, n);
    start[n] = 0;
    rgi_xml_text(f, start);
    fputs("\xe2\x80\xa6", f);
  }
}

static size_t name_length(const rgi_timeline_legend *l, int64_t key) {
  const rg_timeline_walker *w = rgi_timeline_find_walker(l->p, key);
  size_t n =
      w && w->name ? strlen(w->name) : (size_t)snprintf(NULL, 0, "walker %lld", (long long)key);
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

static void put_box(FILE *f, const rgi_timeline_box *b) {
  fprintf(f, "<rect x='%.2f' y='%.2f' width='%.2f' height='%.2f' ", b->x, b->y, b->width,
          b->height);
}

void rgi_timeline_legend_fill(const rgi_timeline_legend *l, FILE *f, const rgi_timeline_box *b,
                              int64_t index) {
  int64_t key = index < l->walkers ? l->keys[index] : 0;
  const rg_timeline_walker *w = rgi_timeline_find_walker(l->p, key);
  int texture = (int)(index / COLOURS % TEXTURES);
  int shade = (int)(index / COLOURS / TEXTURES % SHADES);
  put_box(f, b);
  if (w && w->colour) {
    fprintf(f, "fill='%s'/>", w->colour);
    return;
  }
  fprintf(f, "fill='#%06x'/>",
          mix(colours[index % COLOURS], shades[shade].with, shades[shade].share));
  if (texture) {
    put_box(f, b);
    fprintf(f, "fill='url(#t%d)'/>", texture);
  }
}

/* data-turn: the page's script scales them back when it scales the picture. */
void rgi_timeline_legend_define(FILE *f) {
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
        f);
}

/* --- the legend ------------------------------------------------------------------------------- */

static int64_t named(const rgi_timeline_legend *l) {
  return l->walkers < MOST_NAMED ? l->walkers : MOST_NAMED;
}

/* Idle, regrouping, waiting, and what else there is. */
static int others(const rgi_timeline_legend *l) {
  return 3 + l->apart + l->dead;
}

int rgi_timeline_legend_open(rgi_timeline_legend *l, const rgi_timeline_picture *p, double left,
                             double width) {
  size_t longest = strlen("regrouping");
  *l = (rgi_timeline_legend){.p = p, .left = left, .width = width};
  if (!find_walkers(l))
    return 0;
  l->dead = p->deaths > 0;
  for (int r = 0; r < p->ranks; r++)
    for (int64_t i = 0; i < p->counts[r]; i++)
      l->apart |= rgi_timeline_is_apart(p, &p->spans[p->starts[r] + i]);
  longest = l->apart ? strlen("ranks of one group") : longest;
  l->small = l->walkers > MANY;
  for (int64_t i = 0; i < named(l); i++)
    longest = name_length(l, l->keys[i]) > longest ? name_length(l, l->keys[i]) : longest;
  double column = (l->small ? 6.6 : 7.8) * (double)longest + (l->small ? 30 : 44);
  l->columns = column > width ? 1 : (int)(width / column);
  return 1;
}

void rgi_timeline_legend_close(rgi_timeline_legend *l) {
  free(l->keys);
}

static double row_height(const rgi_timeline_legend *l) {
  return l->small ? 18 : 24;
}

double rgi_timeline_legend_height(const rgi_timeline_legend *l) {
  int64_t items = named(l) + others(l) + (l->walkers > named(l));
  return row_height(l) * (double)((items + l->columns - 1) / l->columns);
}

static rgi_timeline_box place_of(const rgi_timeline_legend *l, int64_t item, double y) {
  return (rgi_timeline_box){.x = l->left + (double)(item % l->columns) * l->width / l->columns,
                            .y = y + (double)(item / l->columns) * row_height(l),
                            .width = l->small ? 16 : 20,
                            .height = l->small ? 12 : 15};
}

static void begin_text(const rgi_timeline_box *b, FILE *f) {
  fprintf(f, "<text x='%.2f' y='%.2f'>", b->x + b->width + 6, b->y + b->height - 3);
}

static void draw_walker(const rgi_timeline_legend *l, FILE *f, double y, int64_t index) {
  rgi_timeline_box b = place_of(l, index, y);
  fprintf(f, "<g class='walker' data-walker='w%lld'><title>", (long long)index);
  rgi_timeline_legend_name(l, f, l->keys[index], 0);
  fputs("</title>", f);
  rgi_timeline_legend_fill(l, f, &b, index);
  put_box(f, &b);
  fputs("fill='none' stroke='#111'/>", f);
  begin_text(&b, f);
  rgi_timeline_legend_name(l, f, l->keys[index], LONGEST);
  fputs("</text></g>\n", f);
}

/* Other spans, and what is drawn over spans. */
static int list_others(const rgi_timeline_legend *l, const char *fill[], const char *name[]) {
  int n = 0;
  fill[n] = "url(#idle)";
  name[n++] = "idle";
  fill[n] = RGI_TIMELINE_REGROUPS;
  name[n++] = "regrouping";
  fill[n] = RGI_TIMELINE_WAITS;
  name[n++] = "waiting";
  fill[n] = RGI_TIMELINE_DEAD;
  name[n] = "dead";
  n += l->dead;
  fill[n] = NULL;
  name[n] = "ranks of one group";
  return n + l->apart;
}

void rgi_timeline_legend_draw(const rgi_timeline_legend *l, FILE *f, double y) {
  const char *fill[OTHERS], *name[OTHERS];
  int n = list_others(l, fill, name);
  fprintf(f, "<g font-size='%d' fill='#333'>\n", l->small ? 11 : 13);
  for (int64_t i = 0; i < named(l); i++)
    draw_walker(l, f, y, i);
  for (int i = 0; i < n; i++) {
    rgi_timeline_box b = place_of(l, named(l) + i, y);
    put_box(f, &b);
    fprintf(f, "fill='%s' stroke='#111' stroke-dasharray='%s'/>", fill[i] ? fill[i] : "none",
            fill[i] ? "none" : RGI_TIMELINE_APART);
    begin_text(&b, f);
    fprintf(f, "%s</text>\n", name[i]);
  }
  if (l->walkers > named(l)) {
    rgi_timeline_box b = place_of(l, named(l) + n, y);
    begin_text(&b, f);
    fprintf(f, "and %lld more walkers</text>\n", (long long)(l->walkers - named(l)));
  }
  fputs("</g>\n", f);
}
