/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The messages and votes of one ballot about the presence of nodes (presence.h), and how they are
 * judged: pure functions, without messages or clocks. */
#ifndef RGI_BALLOT_H
#define RGI_BALLOT_H

#include <stddef.h>
#include <stdint.h>

/* Sets of nodes, a byte each. What a node that votes says of the others: */
enum {
  RGI_BALLOT_VOUCHED = 1, /* it has a connection with the node, from which something came lately */
  RGI_BALLOT_REFUSED = 2, /* the node's host has refused it a connection */
  RGI_BALLOT_SILENT = 4,  /* it has heard nothing of the node for the limit */
  RGI_BALLOT_CUT = 8,     /* the straight path is cut, and MPI needs it */
  RGI_BALLOT_HEARD = 16   /* it has heard the node within the limit */
};

/* A message; behind it, in a promise and in an acceptance: a byte for each node, the evidence or
 * the set, then in a promise the set that was accepted. */
typedef struct {
  uint32_t number, nodes;
  int64_t ballot,
      accepted; /* accepted: the ballot of the set that the voter has accepted; 0: none */
} rgi_ballot_message;

/* The votes as the coordinator has them. */
typedef struct {
  int n;
  const unsigned char *lost; /* for each node */
  unsigned char *voted;      /* for each node: it has promised */
  unsigned char *seen;       /* n rows of n: the evidence of each voter */
  int late;                  /* all have had time to answer */
} rgi_ballot;

typedef enum {
  RGI_BALLOT_WAITING,  /* a node may still answer */
  RGI_BALLOT_NOTHING,  /* no node is to be taken away */
  RGI_BALLOT_TIE,      /* half of the nodes have voted: the witness or the lowest node judges */
  RGI_BALLOT_QUORUM,   /* the votes suffice */
  RGI_BALLOT_NO_QUORUM /* they do not */
} rgi_ballot_result;

/* 0: no memory. */
int rgi_ballot_open(rgi_ballot *ballot, int nodes, const unsigned char lost[]);
void rgi_ballot_close(rgi_ballot *ballot);

/* Judges the votes; set, a byte for each node: those that are to be taken away. */
rgi_ballot_result rgi_ballot_judge(const rgi_ballot *ballot, unsigned char set[]);

/* The rules on which it rests that there is one world. The model has them under the same names
 * (tests/model/membership.py), and test_membership.py compares the two for all inputs. */

/* Whether those that have voted may decide: all present nodes that are not gone; or more than half
 * of the present ones; or half of them with the claim: the node that has the witness, or the lowest
 * one; -1: none. */
int rgi_ballot_is_quorum(const rgi_ballot *ballot, int claim);

/* set: the one that the coordinator has found. It gives way to the one that a voter has accepted in
 * an earlier ballot (carried; NULL: none), which may have been decided, unless all that would go on
 * by that are gone. */
void rgi_ballot_set_to_propose(const rgi_ballot *ballot, const unsigned char carried[],
                               unsigned char set[]);

/* The lowest present node; -1: none is present. */
int rgi_ballot_lowest(const rgi_ballot *ballot);

#endif
