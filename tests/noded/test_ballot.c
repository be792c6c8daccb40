/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * How the votes about the presence of nodes are judged: who is gone or silent, which votes suffice,
 * and which nodes cover the cut paths. */
#include "noded/consensus/ballot.h"

#include <string.h>

#include "tests/check/check.h"

enum { MOST = 9 };

static rgi_ballot votes;
static unsigned char lost[MOST], set[MOST];

/* Of so many nodes these have voted, and all of them vouch for one another. */
static void begin(int n, unsigned voted) {
  memset(lost, 0, sizeof lost);
  RGT_TRUE(rgi_ballot_open(&votes, n, lost));
  for (int i = 0; i < n; i++)
    votes.voted[i] = voted >> i & 1;
}

static void say(int voter, int of, int what) {
  votes.seen[voter * votes.n + of] |= (unsigned char)what;
}

static void all_say(int of, int what) {
  for (int i = 0; i < votes.n; i++)
    if (votes.voted[i] && i != of)
      say(i, of, what);
}

static void cut(int a, int b) {
  say(a, b, RGI_BALLOT_CUT);
}

static unsigned judged_set(void) {
  unsigned all = 0;
  for (int i = 0; i < votes.n; i++)
    all |= (unsigned)set[i] << i;
  return all;
}

static int judge(void) {
  memset(set, 7, sizeof set);
  return rgi_ballot_judge(&votes, set);
}

#define JUDGED(result, nodes)                                                                      \
  do {                                                                                             \
    RGT_INT(judge(), result);                                                                      \
    RGT_INT(judged_set(), nodes);                                                                  \
  } while (0)

/* One voter's refusal is enough, if no voter has a connection with the node. */
static void test_gone(void) {
  begin(5, 1);
  for (int i = 1; i < 5; i++)
    say(0, i, RGI_BALLOT_REFUSED);
  JUDGED(RGI_BALLOT_QUORUM, 0x1e);
  rgi_ballot_close(&votes);
  begin(3, 3);
  say(0, 2, RGI_BALLOT_REFUSED);
  JUDGED(RGI_BALLOT_QUORUM, 4);
  say(1, 2, RGI_BALLOT_VOUCHED);
  RGT_INT(judge(), RGI_BALLOT_WAITING);
  votes.voted[1] = 0; /* a vote that does not count */
  RGT_INT(judge(), RGI_BALLOT_WAITING);
  say(0, 1, RGI_BALLOT_REFUSED);
  JUDGED(RGI_BALLOT_QUORUM, 6);
  rgi_ballot_close(&votes);
}

/* A silent node has time to answer, and nobody has heard it within the limit. */
static void test_silent(void) {
  begin(3, 3);
  say(0, 2, RGI_BALLOT_SILENT);
  RGT_INT(judge(), RGI_BALLOT_WAITING);
  votes.late = 1;
  JUDGED(RGI_BALLOT_QUORUM, 4);
  say(1, 2, RGI_BALLOT_HEARD);
  RGT_INT(judge(), RGI_BALLOT_WAITING);
  rgi_ballot_close(&votes);
}

/* Nobody is taken away for being spoken of, if it has voted; or for not having voted yet. */
static void test_waiting(void) {
  begin(3, 7);
  all_say(2, RGI_BALLOT_REFUSED | RGI_BALLOT_SILENT);
  votes.late = 1;
  JUDGED(RGI_BALLOT_NOTHING, 0);
  votes.voted[1] = 0;
  RGT_INT(judge(), RGI_BALLOT_WAITING);
  lost[1] = 1;
  JUDGED(RGI_BALLOT_NOTHING, 0);
  rgi_ballot_close(&votes);
}

/* Of all present nodes, the gone ones among them, unless all others have voted. */
static void test_quorum(void) {
  for (int n = 2; n <= MOST; n++)
    for (int v = 1; v < n; v++) {
      begin(n, (1u << v) - 1);
      votes.late = 1;
      for (int i = v; i < n; i++)
        all_say(i, i == v ? RGI_BALLOT_SILENT : RGI_BALLOT_REFUSED);
      JUDGED(2 * v > n    ? RGI_BALLOT_QUORUM
             : 2 * v == n ? RGI_BALLOT_TIE
                          : RGI_BALLOT_NO_QUORUM,
             (1u << n) - (1u << v));
      rgi_ballot_close(&votes);
    }
}

/* Lost nodes do not count. */
static void test_lost(void) {
  begin(5, 3);
  votes.late = 1;
  lost[4] = lost[3] = 1;
  all_say(2, RGI_BALLOT_SILENT);
  JUDGED(RGI_BALLOT_QUORUM, 4);
  lost[0] = votes.voted[0] = 0;
  JUDGED(RGI_BALLOT_WAITING, 0);
  rgi_ballot_close(&votes);
}

static void test_lowest(void) {
  begin(4, 3);
  RGT_INT(rgi_ballot_lowest(&votes), 0);
  lost[0] = 1;
  RGT_INT(rgi_ballot_lowest(&votes), 1);
  memset(lost, 1, sizeof lost);
  RGT_INT(rgi_ballot_lowest(&votes), -1);
  rgi_ballot_close(&votes);
}

/* A set that was accepted before stays as long as anybody may have applied it, whoever votes now.
 */
static void test_carried(void) {
  static const unsigned char carried[] = {0, 1, 1, 1, 0};
  begin(5, 0xe);
  votes.late = 1;
  all_say(0, RGI_BALLOT_SILENT);
  all_say(4, RGI_BALLOT_SILENT);
  JUDGED(RGI_BALLOT_QUORUM, 0x11);
  rgi_ballot_set_to_propose(&votes, NULL, set);
  RGT_INT(judged_set(), 0x11);
  rgi_ballot_set_to_propose(&votes, carried, set);
  RGT_INT(judged_set(), 0xe);
  all_say(0, RGI_BALLOT_REFUSED);
  judge();
  rgi_ballot_set_to_propose(&votes, carried, set);
  RGT_INT(judged_set(), 0xe);
  all_say(4, RGI_BALLOT_REFUSED);
  judge();
  rgi_ballot_set_to_propose(&votes, carried, set);
  RGT_INT(judged_set(), 0x11);
  rgi_ballot_close(&votes);
}

/* A star is covered by its middle, a path of k edges by k / 2 nodes or one more, a pair by the node
 * with the higher index. */
static void test_cuts(void) {
  for (int middle = 0; middle < 5; middle++) {
    begin(5, 31);
    for (int i = 0; i < 5; i++)
      if (i != middle)
        cut(i % 2 ? i : middle, i % 2 ? middle : i);
    JUDGED(RGI_BALLOT_QUORUM, 1u << middle);
    rgi_ballot_close(&votes);
  }
  begin(5, 31);
  cut(3, 1);
  JUDGED(RGI_BALLOT_QUORUM, 8);
  cut(1, 2);
  JUDGED(RGI_BALLOT_QUORUM, 2);
  cut(3, 4);
  JUDGED(RGI_BALLOT_QUORUM, 8 | 4);
  rgi_ballot_close(&votes);
}

/* A path to a node that is taken away anyhow needs no other victim. */
static void test_cuts_and_silence(void) {
  begin(4, 7);
  votes.late = 1;
  all_say(3, RGI_BALLOT_SILENT | RGI_BALLOT_CUT);
  JUDGED(RGI_BALLOT_QUORUM, 8);
  cut(0, 1);
  JUDGED(RGI_BALLOT_QUORUM, 8 | 2);
  rgi_ballot_close(&votes);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"gone", test_gone},
                                   {"silent", test_silent},
                                   {"waiting", test_waiting},
                                   {"quorum", test_quorum},
                                   {"lost nodes", test_lost},
                                   {"the lowest node", test_lowest},
                                   {"a set that is carried", test_carried},
                                   {"cut paths", test_cuts},
                                   {"cut paths and silence", test_cuts_and_silence},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "ballot", tests);
}
