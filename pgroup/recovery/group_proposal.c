/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A proposal lists the nodes of the members. The agreement waits for the vote of each node on which
 * a member lives; where it does not await votes, the first list of dead members decides. */
#include "recovery/group_proposal.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "formation/group.h"
#include "noded/client/overlay_client.h"
#include "shm/arena.h"
#include "shm/node.h"
#include "shm/process.h"

/* The list of the members' nodes goes in the order of their lowest ranks. of: for each member its
 * node's place in the list. Returns how many nodes there are; -1: no memory. */
static int list_nodes(const rgi_members *members, int *of) {
  int n = rgi_members_count(members);
  for (int i = 0; i < n; i++)
    of[i] = rgi_node_of(rgi_members_at(members, i));
  return rgi_node_number(of, n, rgi_node.count);
}

static int count_dead(const rgi_members *members) {
  int dead = 0;
  for (int i = 0; i < rgi_members_count(members); i++)
    dead += rgi_process_is_dead(rgi_members_at(members, i));
  return dead;
}

/* The agreement waits for the vote of each node that is not EMPTY: one with a living member. */
static void fill_lists(const rgi_members *members, rgi_agreement_proposal *proposal,
                       const int *of) {
  unsigned char *states = rgi_agreement_states(proposal);
  memset(states, RGI_AGREEMENT_EMPTY, (size_t)proposal->nodes);
  for (int i = 0, dead = 0; i < rgi_members_count(members); i++) {
    int rank = rgi_members_at(members, i), at = of[i];
    rgi_agreement_nodes(proposal)[at] = rgi_node_of(rank);
    if (!rgi_process_is_dead(rank))
      states[at] = rank == rgi_node.rank               ? RGI_AGREEMENT_VOTED
                   : states[at] == RGI_AGREEMENT_EMPTY ? 0
                                                       : states[at];
    else if (dead < proposal->dead)
      rgi_agreement_dead(proposal)[dead++] = i;
  }
}

static uint64_t offset_of(const void *at) {
  return (uint64_t)((const char *)at - (const char *)rgi_arena_at(0));
}

/* n: nodes. */
static int send_proposal(const rgi_group_proposal *group_proposal, const int *of, int n) {
  int dead = count_dead(group_proposal->g->members), listed = group_proposal->all ? 0 : dead;
  uint64_t at;
  RGI_TRY(rgi_arena_alloc_for(RGI_ARENA_DECISION, group_proposal->call,
                              rgi_agreement_bytes(n, listed), &at));
  rgi_agreement_proposal *proposal = rgi_arena_at(at);
  *proposal = (rgi_agreement_proposal){.group = group_proposal->g->context,
                                       .round = *rgi_group_rounds(group_proposal->g),
                                       .all = group_proposal->all != 0,
                                       .word = group_proposal->word,
                                       .failed = dead > 0,
                                       .nodes = n,
                                       .dead = listed,
                                       .members = rgi_members_count(group_proposal->g->members),
                                       .accepted = -1,
                                       .round_at = offset_of(group_proposal->round),
                                       .flags_at = offset_of(group_proposal->flags)};
  fill_lists(group_proposal->g->members, proposal, of);
  if (group_proposal->all)
    proposal->dead = -1;
  rgi_overlay_tell(RGI_FACT_PROPOSAL, at);
  return RG_SUCCESS;
}

int rgi_group_proposal_submit(const rgi_group_proposal *group_proposal) {
  int members = rgi_members_count(group_proposal->g->members),
      *of = malloc((size_t)members * sizeof *of);
  int n = of ? list_nodes(group_proposal->g->members, of) : -1;
  int error =
      n < 0 ? rgi_error(RG_ERR_NOMEM, "%s: no memory for %d members", group_proposal->call, members)
            : send_proposal(group_proposal, of, n);
  free(of);
  return error;
}
