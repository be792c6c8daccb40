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
#include "noded/consensus/ballot.h"

#include <stdlib.h>
#include <string.h>

static const unsigned char *evidence_of(const rgi_ballot *ballot, int voter) {
  return ballot->seen + (size_t)voter * (size_t)ballot->n;
}

static int is_present(const rgi_ballot *ballot, int node) {
  return !ballot->lost[node];
}

/* What all voters together say of a node. */
static int said_of(const rgi_ballot *ballot, int node) {
  int all = 0;
  for (int i = 0; i < ballot->n; i++)
    if (ballot->voted[i])
      all |= evidence_of(ballot, i)[node];
  return all;
}

static int is_gone(int said) {
  return (said & RGI_BALLOT_REFUSED) && !(said & RGI_BALLOT_VOUCHED);
}

static int is_silent(int said, int late) {
  return late && (said & RGI_BALLOT_SILENT) && !(said & RGI_BALLOT_HEARD);
}

static int is_cut(const rgi_ballot *ballot, int i, int j) {
  return ballot->voted[i] && ballot->voted[j] &&
         ((evidence_of(ballot, i)[j] | evidence_of(ballot, j)[i]) & RGI_BALLOT_CUT);
}

static int count_cuts(const rgi_ballot *ballot, const unsigned char set[], int node) {
  int n = 0;
  for (int i = 0; i < ballot->n; i++)
    n += i != node && !set[i] && !set[node] && is_cut(ballot, node, i);
  return n;
}

/* Also 1 if any voter speaks of a cut path: most ballots need not look further. */
static int any_cut(const rgi_ballot *ballot) {
  for (int i = 0; i < ballot->n; i++)
    if (ballot->voted[i] && said_of(ballot, i) & RGI_BALLOT_CUT)
      return 1;
  return 0;
}

static void add_cut_nodes(const rgi_ballot *ballot, unsigned char set[]) {
  for (int most = any_cut(ballot), at = 0; most;) {
    most = 0;
    for (int i = 0; i < ballot->n; i++) {
      int n = ballot->voted[i] ? count_cuts(ballot, set, i) : 0;
      if (n && n >= most) {
        most = n;
        at = i;
      }
    }
    if (most)
      set[at] = 1;
  }
}

/* --- the rules: those of tests/model/membership.py, under the same names --------------------- */

static int is_gone_node(const rgi_ballot *ballot, int node) {
  return !ballot->voted[node] && is_gone(said_of(ballot, node));
}

int rgi_ballot_is_quorum(const rgi_ballot *ballot, int claim) {
  int present = 0, votes = 0, silent = 0;
  for (int i = 0; i < ballot->n; i++) {
    present += is_present(ballot, i);
    votes += is_present(ballot, i) && ballot->voted[i];
    silent += is_present(ballot, i) && !ballot->voted[i] && !is_gone_node(ballot, i);
  }
  if (!silent || 2 * votes != present)
    return !silent || 2 * votes > present;
  return claim >= 0 && ballot->voted[claim];
}

void rgi_ballot_set_to_propose(const rgi_ballot *ballot, const unsigned char carried[],
                               unsigned char set[]) {
  int goes_on = 0;
  for (int i = 0; carried && i < ballot->n; i++)
    goes_on |= is_present(ballot, i) && !carried[i] && !is_gone_node(ballot, i);
  if (goes_on)
    memcpy(set, carried, (size_t)ballot->n);
}

int rgi_ballot_lowest(const rgi_ballot *ballot) {
  int i = 0;
  while (i < ballot->n && !is_present(ballot, i))
    i++;
  return i < ballot->n ? i : -1;
}

/* --- all ------------------------------------------------------------------------------------- */

rgi_ballot_result rgi_ballot_judge(const rgi_ballot *ballot, unsigned char set[]) {
  int present = 0, votes = 0, any = 0;
  memset(set, 0, (size_t)ballot->n);
  for (int i = 0; i < ballot->n; i++) {
    if (!is_present(ballot, i))
      continue;
    present++;
    votes += ballot->voted[i];
    if (ballot->voted[i])
      continue;
    int said = said_of(ballot, i);
    if (!is_gone(said) && !is_silent(said, ballot->late))
      return RGI_BALLOT_WAITING;
    set[i] = 1;
  }
  add_cut_nodes(ballot, set);
  for (int i = 0; i < ballot->n; i++)
    any |= set[i];
  if (!any)
    return RGI_BALLOT_NOTHING;
  if (rgi_ballot_is_quorum(ballot, -1))
    return RGI_BALLOT_QUORUM;
  return 2 * votes == present ? RGI_BALLOT_TIE : RGI_BALLOT_NO_QUORUM;
}

int rgi_ballot_open(rgi_ballot *ballot, int nodes, const unsigned char lost[]) {
  *ballot = (rgi_ballot){.n = nodes,
                         .lost = lost,
                         .voted = calloc((size_t)nodes, 1),
                         .seen = calloc((size_t)nodes, (size_t)nodes)};
  return ballot->voted && ballot->seen;
}

void rgi_ballot_close(rgi_ballot *ballot) {
  free(ballot->voted);
  free(ballot->seen);
  memset(ballot, 0, sizeof *ballot);
}
