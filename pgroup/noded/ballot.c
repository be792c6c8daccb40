/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Judging a ballot. A present node that has not voted is
 *   gone    if a voter was refused by it and no voter vouches for it;
 *   silent  if a voter has not heard it for the limit, it has had time to answer, and no voter
 *           has heard it within the limit;
 *   else it may still answer, and the ballot waits.
 * Of nodes that have voted, those are taken away that cover all cut paths: again and again the one
 * with the most cut paths, and of several the one with the highest index. */
#include "noded/ballot.h"

#include <stdlib.h>
#include <string.h>

static const unsigned char *evidence_of(const rgi_ballot *b, int voter) {
  return b->seen + (size_t)voter * (size_t)b->n;
}

static int is_present(const rgi_ballot *b, int node) {
  return !b->lost[node];
}

/* What all voters together say of a node. */
static int said_of(const rgi_ballot *b, int node) {
  int all = 0;
  for (int i = 0; i < b->n; i++)
    if (b->voted[i])
      all |= evidence_of(b, i)[node];
  return all;
}

static int is_gone(int said) {
  return (said & RGI_BALLOT_REFUSED) && !(said & RGI_BALLOT_VOUCHED);
}

static int is_silent(int said, int late) {
  return late && (said & RGI_BALLOT_SILENT) && !(said & RGI_BALLOT_HEARD);
}

static int is_cut(const rgi_ballot *b, int i, int j) {
  return b->voted[i] && b->voted[j] &&
         ((evidence_of(b, i)[j] | evidence_of(b, j)[i]) & RGI_BALLOT_CUT);
}

static int count_cuts(const rgi_ballot *b, const unsigned char set[], int node) {
  int n = 0;
  for (int i = 0; i < b->n; i++)
    n += i != node && !set[i] && !set[node] && is_cut(b, node, i);
  return n;
}

/* Also 1 if any voter speaks of a cut path: most ballots need not look further. */
static int any_cut(const rgi_ballot *b) {
  for (int i = 0; i < b->n; i++)
    if (b->voted[i] && said_of(b, i) & RGI_BALLOT_CUT)
      return 1;
  return 0;
}

static void add_cut_nodes(const rgi_ballot *b, unsigned char set[]) {
  for (int most = any_cut(b), at = 0; most;) {
    most = 0;
    for (int i = 0; i < b->n; i++) {
      int n = b->voted[i] ? count_cuts(b, set, i) : 0;
      if (n && n >= most) {
        most = n;
        at = i;
      }
    }
    if (most)
      set[at] = 1;
  }
}

rgi_ballot_result rgi_ballot_judge(const rgi_ballot *b, unsigned char set[]) {
  int present = 0, votes = 0, silent = 0, any = 0;
  memset(set, 0, (size_t)b->n);
  for (int i = 0; i < b->n; i++) {
    if (!is_present(b, i))
      continue;
    present++;
    votes += b->voted[i];
    if (b->voted[i])
      continue;
    int said = said_of(b, i);
    if (!is_gone(said) && !is_silent(said, b->late))
      return RGI_BALLOT_WAITING;
    silent += !is_gone(said);
    set[i] = 1;
  }
  add_cut_nodes(b, set);
  for (int i = 0; i < b->n; i++)
    any |= set[i];
  if (!any)
    return RGI_BALLOT_NOTHING;
  if (!silent || 2 * votes > present)
    return RGI_BALLOT_QUORUM;
  return 2 * votes == present ? RGI_BALLOT_TIE : RGI_BALLOT_NO_QUORUM;
}

int rgi_ballot_has_lowest(const rgi_ballot *b) {
  int i = 0;
  while (i < b->n && !is_present(b, i))
    i++;
  return i < b->n && b->voted[i];
}

int rgi_ballot_open(rgi_ballot *b, int nodes, const unsigned char lost[]) {
  *b = (rgi_ballot){.n = nodes,
                    .lost = lost,
                    .voted = calloc((size_t)nodes, 1),
                    .seen = calloc((size_t)nodes, (size_t)nodes)};
  return b->voted && b->seen;
}

void rgi_ballot_close(rgi_ballot *b) {
  free(b->voted);
  free(b->seen);
  memset(b, 0, sizeof *b);
}
