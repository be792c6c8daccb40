/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The processes that balance: a group, which shrinks when members die in a job that survives
 * (RG_SURVIVE). Where nothing else is said, ranks are ranks in the present group. */
#ifndef RGI_TEAM_MEMBERSHIP_H
#define RGI_TEAM_MEMBERSHIP_H

#include <regroup/group.h>

#include "progress/wait.h"

typedef struct {
  rg_group group; /* all living members */
  int rank, size;
  int survives;   /* the job survives deaths */
  int spanned;    /* the group had members on several nodes at first */
  rg_group first; /* as the group was at first */
  int first_rank, first_size;
  uint64_t first_context;
  int *first_rank_of; /* of each rank; NULL: all still live */
  const char *call;   /* that the application has made, for the texts of errors */
} rgi_membership;

/* The members are those of g, whose caller keeps it. */
int rgi_membership_open(rgi_membership *members, rg_group group);
void rgi_membership_close(rgi_membership *members);
/* The members get another group that has exchanged no message yet. They all call. Not in a job that
 * survives: there rgi_membership_shrink does it. */
int rgi_membership_renew(rgi_membership *members);
/* The members are the living ones. They all call. */
int rgi_membership_shrink(rgi_membership *members);

/* Whether a member has died, or another member has noticed a death and revoked the group. 0 in jobs
 * that do not survive. */
int rgi_membership_failure(const rgi_membership *members);
/* As rgi_membership_failure as an error of this walker: RG_ERR_PROC_FAILED. */
int rgi_membership_check(const rgi_membership *members, int64_t walker);
/* As rgi_membership_check, after a check of the processes that is made not too often. */
int rgi_membership_look(const rgi_membership *members);
/* Starts a wait that such a failure ends, and no other group's. */
void rgi_membership_start_wait(const rgi_membership *members, const char *call, rgi_wait *waiting);

/* The rank that a rank had at first. */
int rgi_membership_first_rank(const rgi_membership *members, int rank);
/* The node of a rank; and its place on this node, or -1 if it is on another one. */
int rgi_membership_node_of(const rgi_membership *members, int rank);
int rgi_membership_place(const rgi_membership *members, int rank);
/* Whether there are members on other nodes; whether this process is the lowest rank on its node. */
int rgi_membership_spans_nodes(const rgi_membership *members);
int rgi_membership_leads_node(const rgi_membership *members);
/* For each rank another one on another node, outside its failure domain (RG_DOMAINS) if there are
 * several; for the ranks of a node those of one node. If there are no other nodes: of this one. */
int rgi_membership_buddies(const rgi_membership *members, int buddies[]);

#endif
