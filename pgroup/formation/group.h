/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The group object. */
#ifndef RGI_GROUP_H
#define RGI_GROUP_H

#include <regroup/group.h>
#include <stdatomic.h>

#include "base/label.h"
#include "formation/context.h"
#include "formation/members.h"
#include "runtime/runtime.h"
#include "shm/failure.h"

/* What a room above keeps on a group and its copies; of: NULL where there is nothing. */
typedef struct {
  void *of;
  void (*share)(void *of);
  void (*drop)(void *of);
} rgi_group_attachment;

/* rgi_group_with_context sets each member: a new one has to be set there. */
/* What each collective call reads comes first: a line, where malloc permits. */
struct rg_group_s {
  unsigned magic; /* RGI_GROUP_MAGIC while it lives */
  int me;
  unsigned long epoch;
  void *collectives; /* what the collectives cache on the group */
  rgi_members *members;
  uint64_t context;      /* of its messages; 0 for a group without the caller */
  atomic_ullong derived; /* how many groups were derived from it; not of the world */
  int tag;
  int is_world;           /* by rg_group_world: all such handles have one context */
  uint32_t rounds;        /* rgi_group_rounds; not of the world */
  int diverged;           /* created after a death: rgi_group_out_of */
  int collectives_failed; /* the caller could not make what is cached */
  uint64_t creation_ids[RGI_CREATION_IDS]; /* the operations that created it (failure.h) */
  uint64_t creations;                      /* its operations that create groups; not of the world */
  rgi_label *label;                        /* the name, or NULL */
  MPI_Comm comm;                           /* the MPI view, or MPI_COMM_NULL */
  void (*collectives_free)(rg_group g);
  rgi_group_attachment topology; /* the places of the members (topology/group_places.h) */
};

#define RGI_GROUP_MAGIC 0x67726f75u

/* A group of these members. The reference is taken over, also on failure. Groups of the same
 * members, tag and kind are told apart by the order in which they are created. */
int rgi_group_new(rgi_members *members, rgi_context_kind kind, int tag, rg_group *g);

/* How many agreements the survivors of this context have made (recovery): the number of the next.
 */
static inline uint32_t *rgi_group_rounds(rg_group g) {
  return g->is_world ? &rgi_runtime.world_rounds : &g->rounds;
}

/* A group of these members with a context that all of them have computed otherwise. */
int rgi_group_with_context(rgi_members *members, int tag, uint64_t context, rg_group *g);

/* As rgi_group_new, out of one group (b is NULL: RGI_CONTEXT_CREATED) or, by an operation on sets,
 * of two. These groups are told apart by their operands, too: a member that makes another operation
 * by itself counts that alone. The new group inherits their creation ids, and is diverged if one of
 * them is. */
int rgi_group_out_of(rg_group a, rg_group b, rgi_context_kind kind, rgi_members *members, int tag,
                     rg_group *g);

/* As rgi_group_out_of, but a caller that is no member gets NULL; parent
 * may be NULL. */
int rgi_group_for_members(rg_group parent, rgi_members *members, int tag, rg_group *g);

/* By members who have agreed on a number for their group (rgi_context_numbered). Keeps nothing when
 * the group is freed. */
int rgi_group_numbered(MPI_Group mpi, uint64_t number, rg_group *g);

/* --- creation by messages -------------------------------------------------------- */

/* The id of g's next operation that creates groups: the same for all members, also when some of
 * them get an error. */
uint64_t rgi_group_creation_begin(rg_group g);

/* The end of an operation with this id: returns the error. One that other members may not know
 * of revokes the id, which ends the waits on the groups that they have created by it. */
int rgi_group_creation_result(uint64_t id, int error);

/* A group created by one operation, or by one of each side. part: tells apart the groups that
 * one operation creates. The reference is taken over. */
int rgi_group_creation_end(const uint64_t creation_ids[RGI_CREATION_IDS], uint32_t part,
                           int diverged, rgi_members *members, int tag, rg_group *g);

/* Memory for a group of at most n members, which a call takes before it takes part in anything:
 * the others will have the group. The caller fills in rgi_members_room_ranks of `members`. */
typedef struct {
  rg_group group;
  rgi_members *members;
} rgi_group_room;
int rgi_group_room_alloc(const char *call, int n, rgi_group_room *room);
void rgi_group_room_free(rgi_group_room *room);

/* As rgi_group_creation_end, of the first n ranks of the room, which is taken over. Takes no
 * memory. RG_ERR_RANK: a rank twice. */
int rgi_group_creation_fill(const uint64_t creation_ids[RGI_CREATION_IDS], uint32_t part,
                            int diverged, rgi_group_room *room, int n, int tag, rg_group *g);

/* A group of g's members for an object on g, an array for instance. Members call, in the same
 * order for the same g. Unlike a copy by rg_group_dup, the group is told apart from others by g
 * and that order alone, so that creations on different groups may be mixed freely. No message;
 * any thread. */
int rgi_group_derive(rg_group g, rg_group *derived);

/* Groups of some of g's members, as by rgi_group_derive. All members begin the derivation, in the
 * same order; then each makes the groups that it is in, told apart by `part`. The reference to
 * members is taken over. */
uint64_t rgi_group_derive_begin(rg_group g);
int rgi_group_derive_part(rg_group g, uint64_t derivation, uint32_t part, rgi_members *members,
                          rg_group *derived);

/* RG_ERR_GROUP unless g is a living handle. */
int rgi_group_check(const char *call, rg_group g);

/* As rgi_group_check, and of the running library. */
int rgi_group_check_epoch(const char *call, rg_group g);

/* As rgi_group_check_epoch, and the caller is a member. */
int rgi_group_check_member(const char *call, rg_group g);

/* The caller needs no more that a revoked group is known to be so. Local. */
void rgi_group_end_revocation(rg_group g);

int rgi_group_check_tag(const char *call, int tag);

#endif
