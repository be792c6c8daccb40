/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Drawing processes out of the reserve, and growing a group by them. */
#include <stdlib.h>

#include "base/error.h"
#include "formation/context.h"
#include "formation/group.h"
#include "formation/spread.h"
#include "intercomm/books.h"
#include "intercomm/drawing.h"
#include "intercomm/reserve.h"
#include "message/message.h"
#include "noded/guardian.h"
#include "runtime/runtime.h"
#include "shm/failure.h"

/* What member 0 tells the others: {error, how many sleep or were drawn, ranks}. */
enum { ERROR, THERE, RANKS };

int rgi_draw_replaced(const char *call, const rgi_members *before, const rgi_members *g,
                      const rgi_members *drawn, rgi_members **all) {
  int n = rgi_members_count(before), next = 0, *ranks = malloc((size_t)n * sizeof *ranks);
  if (!ranks)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", call, n);
  for (int i = 0; i < n; i++) {
    ranks[i] = rgi_members_at(before, i);
    if (rgi_members_find(g, ranks[i]) < 0)
      ranks[i] = rgi_members_at(drawn, next++);
  }
  int error = rgi_members_list(call, n, ranks, all);
  free(ranks);
  return error;
}

/* The letter to those that were drawn: drawing.h. */
static int write_letter(const char *call, rg_group g, const rgi_draft *d, const rgi_members *drawn,
                        int *count, int **letter) {
  rgi_members *all = NULL;
  if (d->kind == RGI_DRAW_REPLACE)
    RGI_TRY(rgi_draw_replaced(call, d->before, g->members, drawn, &all));
  int callers = rgi_members_packed(g->members);
  *count = RGI_LETTER_HEAD + d->n + callers + (all ? rgi_members_packed(all) : 0);
  int *l = calloc((size_t)*count, sizeof *l);
  if (l) {
    l[RGI_LETTER_KIND] = (int)d->kind;
    l[RGI_LETTER_TAG] = g->tag;
    l[RGI_LETTER_APART] = d->apart;
    l[RGI_LETTER_DRAWN] = d->n;
    rgi_put_number(l + RGI_LETTER_NUMBER, d->number);
    for (int i = 0; i < d->n; i++)
      l[RGI_LETTER_HEAD + i] = rgi_members_at(drawn, i);
    rgi_members_pack(g->members, l + RGI_LETTER_HEAD + d->n);
    if (all)
      rgi_members_pack(all, l + RGI_LETTER_HEAD + d->n + callers);
  }
  rgi_members_drop(all);
  *letter = l;
  return l ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call, d->n);
}

/* Those that cannot be told go back. Who has died meanwhile is missed by those who need
 * it. */
static int call_them(const char *call, int n, const int ranks[], const int letter[], int count) {
  int error = RG_SUCCESS;
  for (int i = 0; i < n; i++) {
    int one = error ? error : rgi_books_call(call, ranks[i], letter, count);
    if (one && one != RG_ERR_PROC_FAILED) {
      rgi_books_put(call, ranks[i]);
      error = one;
    }
  }
  return error;
}

static int take(const char *call, rg_group g, const rgi_draft *d, int told[]) {
  int count = 0, *letter = NULL, n = d->n;
  rgi_members *drawn;
  if (n < 1)
    return rgi_error(RG_ERR_ARG, "%s: %d processes; at least 1 is to be drawn", call, n);
  RGI_TRY(rgi_books_take(call, n, d->number, told + RANKS, &told[THERE]));
  if (told[THERE] < n)
    return RG_ERR_RESERVE; /* explained on every member */
  int error = rgi_members_list(call, n, told + RANKS, &drawn);
  if (!error) {
    error = write_letter(call, g, d, drawn, &count, &letter);
    rgi_members_drop(drawn);
  }
  for (int i = 0; i < n && error; i++)
    rgi_books_put(call, told[RANKS + i]);
  if (!error)
    error = call_them(call, n, told + RANKS, letter, count);
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

int rgi_draw(const char *call, rg_group g, const rgi_draft *d, rgi_members **drawn) {
  int n = d->n;
  int room = n > 0 && n < rgi_rt.size ? n : rgi_rt.size; /* more cannot be drawn */
  int count = 0, *told = malloc(((size_t)RANKS + (size_t)room) * sizeof *told);
  if (!told)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d processes", call, room);
  if (g->me == 0) {
    told[THERE] = 0;
    told[ERROR] = take(call, g, d, told);
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

uint64_t rgi_confirmation(uint64_t number) {
  return rgi_mix(number + 0x676f2121u);
}

int rgi_draw_confirm(const char *call, rg_group g, uint64_t number, const rgi_members *drawn) {
  for (int i = 0; i < rgi_members_count(drawn) && g->me < RGI_CONFIRMERS; i++) {
    int error =
        rgi_message_deliver(rgi_confirmation(number), rgi_members_at(drawn, i), 0, NULL, 0, call);
    if (error && error != RG_ERR_PROC_FAILED) /* who has died is missed by those who need it */
      return error;
  }
  return RG_SUCCESS;
}

/* A number of its own: whoever gets an error ends what the others may have formed. */
static int grow(const char *call, rg_group g, int n, uint64_t number, rg_group *grown) {
  const uint64_t births[RGI_BIRTHS] = {number};
  const rgi_draft d = {
      .kind = RGI_DRAW_GROW, .n = n, .number = number, .apart = g->apart || rgi_guarded()};
  rgi_members *drawn, *all;
  RGI_TRY(rgi_draw(call, g, &d, &drawn));
  int error = rgi_members_concat(call, g->members, drawn, &all);
  rgi_members_drop(drawn);
  return error ? error : rgi_forming_end(births, 0, d.apart, all, g->tag, grown);
}

int rg_group_grow(rg_group g, int n, rg_group *grown) {
  uint64_t number;
  RGI_REQUIRE(grown);
  RGI_TRY(rgi_group_check(__func__, g));
  RGI_TRY(rgi_reserve_need(__func__));
  RGI_TRY(rgi_group_check_member(__func__, g)); /* whose deaths end the waits */
  RGI_TRY(rgi_forming_begin(g, g->tag, &number));
  return rgi_forming_result(number, grow(__func__, g, n, number, grown));
}
