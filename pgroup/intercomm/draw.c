/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Drawing processes out of the reserve, and growing a group by them. */
#include <stdlib.h>

#include "formation/group.h"
#include "formation/spread.h"
#include "intercomm/books.h"
#include "intercomm/drawing.h"
#include "intercomm/reserve.h"
#include "runtime/error.h"
#include "runtime/runtime.h"

/* What member 0 tells the others: {error, how many sleep or were drawn, ranks}. */
enum { ERROR, THERE, RANKS };

/* The letter to those that were drawn: drawing.h. */
static int write_letter(const char *call, rg_group g, rgi_draw_kind kind, int n, const int ranks[],
                        int *count, int **letter) {
  *count = RGI_LETTER_HEAD + n + rgi_members_packed(g->members);
  int *l = malloc((size_t)*count * sizeof *l);
  if (!l)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call, n);
  l[RGI_LETTER_KIND] = (int)kind;
  l[RGI_LETTER_TAG] = g->tag;
  l[RGI_LETTER_DRAWN] = n;
  for (int i = 0; i < n; i++)
    l[RGI_LETTER_HEAD + i] = ranks[i];
  rgi_members_pack(g->members, l + RGI_LETTER_HEAD + n);
  *letter = l;
  return RG_SUCCESS;
}

/* Those that cannot be told go back. */
static int call_them(const char *call, int n, const int ranks[], const int letter[], int count) {
  int error = RG_SUCCESS;
  for (int i = 0; i < n; i++) {
    if (!error)
      error = rgi_books_call(call, ranks[i], letter, count);
    if (error)
      rgi_books_put(call, ranks[i]);
  }
  return error;
}

static int take(const char *call, rg_group g, rgi_draw_kind kind, int n, int told[]) {
  int count = 0, *letter = NULL;
  if (n < 1)
    return rgi_error(RG_ERR_ARG, "%s: %d processes; at least 1 is to be drawn", call, n);
  RGI_TRY(rgi_books_take(call, n, told + RANKS, &told[THERE]));
  if (told[THERE] < n)
    return RG_ERR_RESERVE; /* explained on every member */
  RGI_TRY(write_letter(call, g, kind, n, told + RANKS, &count, &letter));
  int error = call_them(call, n, told + RANKS, letter, count);
  free(letter);
  return error;
}

static int explain(const char *call, rg_group g, int n, const int told[]) {
  if (told[ERROR] == RG_ERR_RESERVE)
    return rgi_error(RG_ERR_RESERVE,
                     "%s: %d processes are wanted and %d are in reserve: start the job with more "
                     "processes and a larger RG_RESERVE",
                     call, n, told[THERE]);
  return g->me == 0 ? told[ERROR]
                    : rgi_error_from(told[ERROR], call, rgi_members_at(g->members, 0));
}

int rgi_draw(const char *call, rg_group g, rgi_draw_kind kind, int n, rgi_members **drawn) {
  int room = n > 0 && n < rgi_rt.size ? n : rgi_rt.size; /* more cannot be drawn */
  int count = 0, *told = malloc(((size_t)RANKS + (size_t)room) * sizeof *told);
  if (!told)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call, room);
  if (g->me == 0) {
    told[THERE] = 0;
    told[ERROR] = take(call, g, kind, n, told);
    count = RANKS + (told[ERROR] ? 0 : n);
  } else {
    free(told);
  }
  int error = rgi_spread(g, g->tag, call, &count, &told);
  if (error) {
    if (g->me == 0)
      free(told);
    return error;
  }
  error = told[ERROR] ? explain(call, g, n, told)
                      : rgi_members_list(call, count - RANKS, told + RANKS, drawn);
  free(told);
  return error;
}

int rg_group_grow(rg_group g, int n, rg_group *grown) {
  rgi_members *drawn, *all;
  RGI_REQUIRE(grown);
  RGI_TRY(rgi_group_check(__func__, g));
  RGI_TRY(rgi_reserve_need(__func__));
  RGI_TRY(rgi_group_check_member(__func__, g)); /* whose deaths end the waits */
  RGI_TRY(rgi_draw(__func__, g, RGI_DRAW_GROW, n, &drawn));
  int error = rgi_members_concat(__func__, g->members, drawn, &all);
  rgi_members_drop(drawn);
  return error ? error : rgi_group_new(all, RGI_FORMED, g->tag, grown);
}
