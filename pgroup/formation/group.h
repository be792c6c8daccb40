/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The group object. */
#ifndef RGI_GROUP_H
#define RGI_GROUP_H

#include <regroup/group.h>

#include "formation/members.h"

struct rg_group_s {
  unsigned magic; /* RGI_GROUP_MAGIC while it lives */
  unsigned long epoch;
  rgi_members *members;
  int me, tag;
  uint64_t context;  /* of its messages; 0 for a group without the caller */
  MPI_Comm comm;     /* the MPI view, or MPI_COMM_NULL */
  void *collectives; /* what the layer of collectives keeps for the group */
  void (*collectives_free)(void *collectives);
};

#define RGI_GROUP_MAGIC 0x67726f75u

/* How a group comes to be: groups of the same members, tag and kind are told
 * apart by the order in which they are formed. */
typedef enum { RGI_FORMED, RGI_BY_SETS, RGI_WORLD } rgi_group_kind;

/* A group of these members (the reference is taken over, also on failure). */
int rgi_group_new(rgi_members *members, rgi_group_kind kind, int tag, rg_group *g);

/* As rgi_group_new (RGI_FORMED), but a caller that is no member gets NULL. */
int rgi_group_for_members(rgi_members *members, int tag, rg_group *g);

/* RG_ERR_GROUP unless g is a living handle. */
int rgi_group_check(const char *call, rg_group g);

/* The same, and of the running library, and the caller is a member. */
int rgi_group_check_member(const char *call, rg_group g);

int rgi_tag_check(const char *call, int tag);

#endif
