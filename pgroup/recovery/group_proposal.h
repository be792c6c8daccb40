/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The votes of one node's members as a proposal to the node daemons' agreement
 * (noded/consensus/agreement.h). The daemon writes the decision into the round, closes it and wakes
 * the node's members. */
#ifndef RGI_GROUP_PROPOSAL_H
#define RGI_GROUP_PROPOSAL_H

#include <regroup/group.h>
#include <stdint.h>

#include "noded/consensus/agreement_proposal.h"

typedef struct {
  rg_group g;
  const char *call;
  int all;                    /* whether each member's vote is awaited */
  uint32_t word;              /* of the node's members */
  rgi_agreement_round *round; /* in the arena, */
  unsigned char *flags;       /* as is the byte for each member: 1 if it is dead */
} rgi_group_proposal;

/* By one of the node's members. RG_ERR_NOMEM. */
int rgi_group_proposal_submit(const rgi_group_proposal *group_proposal);

#endif
