/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Prepare, promise and accept: the steps by which nodes choose one value although any of them may
 * be lost (Lamport, "The part-time parliament", 1998). Pure functions, without messages or clocks.
 * Two users: the agreements of groups (agreement.c), and the presence of nodes (presence.c).
 *
 * A coordinator begins a ballot, whose number no other coordinator has, and asks nodes to prepare.
 * A node that promises takes part in no lower ballot from then on, and tells the last ballot in
 * which it has accepted a value, and the value. When the promises suffice the coordinator proposes
 * the value of the highest of these ballots; only without one it may propose a value of its own. A
 * node accepts it unless it has promised a higher ballot. The lowest ballot needs no promises, nor
 * does a value that is known to be chosen.
 *
 * Let a value be chosen when the nodes of a deciding set have accepted it in one ballot. The users
 * say which sets decide and which promises suffice, and see to it that any such set of promises has
 * a node of each deciding set in it, unless nobody who goes on can know what was chosen.
 *
 * Why no two values are chosen. Let v be chosen in ballot b, and let c be the lowest ballot above b
 * in which another value is proposed. Among the promises for c is one of a node that has accepted v
 * in b. It did so before it promised c, or it would have refused. So it told c's coordinator of b
 * or of a higher ballot below c. In all ballots from b to c, without c, the value is v: so the
 * coordinator of c has to propose v. Contradiction.
 *
 * tests/model has the three rules under the same names (membership.py) and compares them with these
 * functions; its models of both users rest on them (any_timing.py, just_timing.py, roots.py). */
#ifndef RGI_VOTING_H
#define RGI_VOTING_H

#include <stdint.h>

/* What a node remembers of one choice. For none: a number that is less than those of all ballots.
 */
typedef struct {
  int64_t promised; /* it takes part in no lower ballot */
  int64_t accepted; /* the last ballot in which it has accepted a value; or none */
} rgi_voting;

/* Promises the ballot, its own one too, when it begins. 0: it has promised a higher one. */
int rgi_voting_promise(rgi_voting *voting, int64_t ballot);

/* Accepts the ballot's value, which the caller then keeps. 0: it has promised a higher one. */
int rgi_voting_accept(rgi_voting *voting, int64_t ballot);

/* By the coordinator, of a node that has promised: whether the value that the node has accepted in
 * that ballot, or none, is now the one to propose. taken: the ballot of the one before. */
int rgi_voting_take(int64_t *taken, int64_t accepted);

#endif
