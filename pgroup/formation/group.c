/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The group object: creating, copying, freeing, queries.
 *
 * A group of which the caller is a member has a context, which every member computes by itself:
 * from the members, tag and kind (context.h), from the group that it is derived from, or from the
 * ids of the operation that created it. After a death survivors may have
 * created different numbers of groups: what they create out of a diverged group also mixes in
 * that group's context. */
#include "formation/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/label.h"
#include "base/mix.h"
#include "base/spare.h"
#include "formation/context.h"
#include "formation/failure_scope.h"
#include "noded/client/overlay_client.h"
#include "runtime/runtime.h"
#include "shm/failure.h"
#include "shm/node.h"
#include "shm/process.h"
#include "shm/revocation.h"

#define TAG_MOST ((1 << 28) - 1)

int rgi_group_check_tag(const char *call, int tag) {
  return tag >= 0 && tag <= TAG_MOST
             ? RG_SUCCESS
             : rgi_error(RG_ERR_TAG, "%s: tag %d; tags go from 0 to %d", call, tag, TAG_MOST);
}

int rgi_group_check(const char *call, rg_group g) {
  if (!g)
    return rgi_error(RG_ERR_GROUP, "%s: the group is NULL", call);
  if (g->magic != RGI_GROUP_MAGIC)
    return rgi_error(RG_ERR_GROUP, "%s: not a group, or freed already", call);
  return RG_SUCCESS;
}

int rgi_group_check_epoch(const char *call, rg_group g) {
  RGI_TRY(rgi_group_check(call, g));
  return g->epoch == rgi_runtime.epoch
             ? RG_SUCCESS
             : rgi_error(RG_ERR_GROUP, "%s: the group was created before the last rg_finalize",
                         call);
}

int rgi_group_check_member(const char *call, rg_group g) {
  RGI_TRY(rgi_runtime_check(call));
  RGI_TRY(rgi_group_check_epoch(call, g));
  if (g->me < 0)
    return rgi_error(RG_ERR_GROUP, "%s: rank %d of the world is no member of the group", call,
                     rgi_runtime.rank);
  rgi_failure_scope_set(&rgi_failure_scope_now, g->members, g->context, g->creation_ids);
  return RG_SUCCESS;
}

/* The memory of a group; where there is none the members are dropped. */
static int group_alloc(rgi_members *members, rg_group *g) {
  *g = rgi_spare_alloc(sizeof **g);
  if (*g)
    return RG_SUCCESS;
  rgi_members_drop(members);
  return rgi_error(RG_ERR_NOMEM, "no memory for a group");
}

static void group_fill(rg_group made, rgi_members *members, int tag, uint64_t context) {
  /* Member by member: the compiler clears a whole structure with an instruction that takes longer
   * than all these stores. */
  made->magic = RGI_GROUP_MAGIC;
  made->epoch = rgi_runtime.epoch;
  made->members = members;
  made->me = rgi_members_find(members, rgi_runtime.rank);
  made->tag = tag;
  made->context = context;
  atomic_init(&made->derived, 0);
  made->is_world = 0;
  made->rounds = 0;
  made->diverged = 0;
  for (int i = 0; i < RGI_CREATION_IDS; i++)
    made->creation_ids[i] = 0;
  made->creations = 0;
  made->label = NULL;
  made->comm = MPI_COMM_NULL;
  made->collectives = NULL;
  made->collectives_failed = 0;
  made->collectives_free = NULL;
  made->topology = (rgi_group_attachment){0};
  atomic_fetch_add_explicit(&rgi_runtime.groups, 1, memory_order_relaxed);
}

int rgi_group_with_context(rgi_members *members, int tag, uint64_t context, rg_group *g) {
  rg_group made;
  RGI_TRY(group_alloc(members, &made));
  group_fill(made, members, tag, context);
  *g = made;
  return RG_SUCCESS;
}

/* The next context is counted last: after RG_ERR_NOMEM the caller repeats the call. */
static int group_counted(rgi_members *members, uint64_t hash, rgi_context_kind kind, int tag,
                         rg_group *g) {
  uint64_t context = 0;
  rg_group made;
  int error = RG_SUCCESS;
  RGI_TRY(group_alloc(members, &made));
  if (rgi_members_find(members, rgi_runtime.rank) >= 0)
    error = rgi_context_next(hash, kind, tag, &context);
  if (error) {
    rgi_members_drop(members);
    rgi_spare_free(made);
    return error;
  }
  group_fill(made, members, tag, context);
  *g = made;
  return RG_SUCCESS;
}

int rgi_group_new(rgi_members *members, rgi_context_kind kind, int tag, rg_group *g) {
  return group_counted(members, rgi_members_set_hash(members), kind, tag, g);
}

static void inherit_creation(rg_group g, rg_group from) {
  for (int i = 0; i < RGI_CREATION_IDS; i++)
    for (int k = 0; k < RGI_CREATION_IDS && from->creation_ids[i]; k++)
      if (!g->creation_ids[k] || g->creation_ids[k] == from->creation_ids[i]) {
        g->creation_ids[k] = from->creation_ids[i];
        break;
      }
  g->diverged |= from->diverged;
}

int rgi_group_out_of(rg_group a, rg_group b, rgi_context_kind kind, rgi_members *members, int tag,
                     rg_group *g) {
  uint64_t hash = rgi_members_set_hash(members);
  if (b)
    hash = rgi_mix_bits(hash + rgi_mix_bits(rgi_members_set_hash(a->members) +
                                            rgi_mix_bits(rgi_members_set_hash(b->members))));
  /* Survivors may have created different groups before. */
  if (a->diverged || (b && b->diverged))
    hash = rgi_mix_bits(hash + a->context + (b ? rgi_mix_bits(b->context) : 0));
  RGI_TRY(group_counted(members, hash, kind, tag, g));
  inherit_creation(*g, a);
  if (b)
    inherit_creation(*g, b);
  return RG_SUCCESS;
}

#define DERIVED 0x64657269u /* sets these contexts apart from those of the table */

uint64_t rgi_group_derive_begin(rg_group g) {
  atomic_ullong *derived = g->is_world ? &rgi_runtime.world_derived : &g->derived;
  uint64_t number = atomic_fetch_add_explicit(derived, 1, memory_order_relaxed) + 1;
  return rgi_mix_bits(rgi_mix_bits(g->context + DERIVED) + number);
}

int rgi_group_derive_part(rg_group g, uint64_t derivation, uint32_t part, rgi_members *members,
                          rg_group *derived) {
  uint64_t context = rgi_mix_bits(derivation + part) | 1;
  RGI_TRY(rgi_group_with_context(members, g->tag, context, derived));
  inherit_creation(*derived, g);
  return RG_SUCCESS;
}

int rgi_group_derive(rg_group g, rg_group *derived) {
  return rgi_group_derive_part(g, rgi_group_derive_begin(g), 0, rgi_members_share(g->members),
                               derived);
}

int rgi_group_for_members(rg_group parent, rgi_members *members, int tag, rg_group *g) {
  if (rgi_members_find(members, rgi_runtime.rank) >= 0)
    return parent ? rgi_group_out_of(parent, NULL, RGI_CONTEXT_CREATED, members, tag, g)
                  : rgi_group_new(members, RGI_CONTEXT_CREATED, tag, g);
  rgi_members_drop(members);
  *g = NULL;
  return RG_SUCCESS;
}

int rg_group_dup(rg_group g, rg_group *copy) {
  RGI_REQUIRE(copy);
  RGI_TRY(rgi_runtime_check(__func__));
  RGI_TRY(rgi_group_check(__func__, g));
  rg_group made;
  RGI_TRY(
      rgi_group_out_of(g, NULL, RGI_CONTEXT_CREATED, rgi_members_share(g->members), g->tag, &made));
  made->topology = g->topology;
  if (made->topology.of)
    made->topology.share(made->topology.of);
  *copy = made;
  return RG_SUCCESS;
}

void rgi_group_end_revocation(rg_group g) {
  int living = 0;
  if (g->is_world || g->me < 0 || !rgi_revocation_any() || !rgi_revocation_has(g->context))
    return;
  for (int i = 0; i < rgi_node.n; i++)
    living += rgi_members_find(g->members, rgi_node.ranks[i]) >= 0 &&
              !rgi_process_is_dead(rgi_node.ranks[i]);
  rgi_revocation_freed(g->context, living);
}

int rg_group_free(rg_group *g) {
  RGI_REQUIRE(g);
  if (!*g)
    return RG_SUCCESS;
  RGI_TRY(rgi_group_check(__func__, *g));
  if ((*g)->comm != MPI_COMM_NULL && rgi_runtime_check_mpi(__func__) == RG_SUCCESS)
    MPI_Comm_free(&(*g)->comm);
  if ((*g)->collectives_free)
    (*g)->collectives_free(*g);
  if ((*g)->topology.of)
    (*g)->topology.drop((*g)->topology.of);
  if (rgi_failure_scope_now.members == (*g)->members)
    rgi_failure_scope_now = (rgi_failure_scope){0};
  if ((*g)->label)
    rgi_label_set(&(*g)->label, 0, NULL);
  rgi_group_end_revocation(*g); /* goes with its group */
  rgi_members_drop((*g)->members);
  (*g)->magic = 0;
  rgi_spare_free(*g);
  atomic_fetch_sub_explicit(&rgi_runtime.groups, 1, memory_order_relaxed);
  *g = NULL;
  return RG_SUCCESS;
}

int rg_group_rank(rg_group g, int *rank) {
  RGI_REQUIRE(rank);
  RGI_TRY(rgi_group_check(__func__, g));
  *rank = g->me >= 0 ? g->me : RG_UNDEFINED;
  return RG_SUCCESS;
}

int rg_group_size(rg_group g, int *size) {
  RGI_REQUIRE(size);
  RGI_TRY(rgi_group_check(__func__, g));
  *size = rgi_members_count(g->members);
  return RG_SUCCESS;
}

int rg_group_members(rg_group g, int world_ranks[]) {
  RGI_REQUIRE(world_ranks);
  RGI_TRY(rgi_group_check(__func__, g));
  for (int i = 0; i < rgi_members_count(g->members); i++)
    world_ranks[i] = rgi_members_at(g->members, i);
  return RG_SUCCESS;
}

int rg_group_leader(rg_group g, int *world_rank) {
  RGI_REQUIRE(world_rank);
  RGI_TRY(rgi_group_check(__func__, g));
  *world_rank = rgi_members_at(g->members, 0);
  return RG_SUCCESS;
}

int rg_group_tag(rg_group g, int *tag) {
  RGI_REQUIRE(tag);
  RGI_TRY(rgi_group_check(__func__, g));
  *tag = g->tag;
  return RG_SUCCESS;
}

int rg_group_translate(rg_group a, int n, const int ranks_a[], rg_group b, int ranks_b[]) {
  RGI_TRY(rgi_group_check(__func__, a));
  RGI_TRY(rgi_group_check(__func__, b));
  if (n < 0)
    return rgi_error(RG_ERR_ARG, "%s: %d ranks", __func__, n);
  if (n > 0) {
    RGI_REQUIRE(ranks_a);
    RGI_REQUIRE(ranks_b);
  }
  int size = rgi_members_count(a->members);
  for (int i = 0; i < n; i++)
    if (ranks_a[i] < 0 || ranks_a[i] >= size)
      return rgi_error(RG_ERR_RANK, "%s: rank %d; the group's ranks go from 0 to %d", __func__,
                       ranks_a[i], size - 1);
  for (int i = 0; i < n; i++) {
    int at = rgi_members_find(b->members, rgi_members_at(a->members, ranks_a[i]));
    ranks_b[i] = at >= 0 ? at : RG_UNDEFINED;
  }
  return RG_SUCCESS;
}

int rg_group_compare(rg_group a, rg_group b, int *result) {
  RGI_REQUIRE(result);
  RGI_TRY(rgi_group_check(__func__, a));
  RGI_TRY(rgi_group_check(__func__, b));
  int n = rgi_members_count(a->members), same = n == rgi_members_count(b->members);
  if (rgi_members_equal(a->members, b->members)) {
    *result = a == b ? RG_IDENT : RG_CONGRUENT;
    return RG_SUCCESS;
  }
  for (int i = 0; i < n && same; i++)
    same = rgi_members_find(b->members, rgi_members_at(a->members, i)) >= 0;
  *result = same ? RG_SIMILAR : RG_UNEQUAL;
  return RG_SUCCESS;
}

int rg_group_is_valid(rg_group g, int *valid) {
  RGI_REQUIRE(valid);
  *valid = g && g->magic == RGI_GROUP_MAGIC && rgi_members_valid(g->members) &&
           rgi_group_check_tag(__func__, g->tag) == RG_SUCCESS &&
           (g->me < 0 || g->epoch != rgi_runtime.epoch ||
            rgi_members_at(g->members, g->me) == rgi_runtime.rank);
  return RG_SUCCESS;
}

/* --- creation by messages --------------------------------------------------------------------- */

/* Operations that create groups by messages: merge, split, reassign, reserve. When a process
 * dies meanwhile, some of the living members may have the new group and others an error. Every
 * such operation therefore has an id that all its participants can compute, and the new group's
 * context is made from it. A participant that gets an error revokes the id. The members that
 * have the group then get an error, too, instead of waiting for a member that does not have it.
 *
 * The id mixes the context of the group and the number of its operations. They are collective
 * calls: one thread at a time, in the same order on all members. The tag is no part of it, since
 * one member may pass a wrong one. */
#define CREATION_ID 0x6e756d62u /* sets these ids apart from contexts */

uint64_t rgi_group_creation_begin(rg_group g) {
  uint64_t count = g->is_world ? ++rgi_runtime.world_creations : ++g->creations;
  return rgi_mix_bits(rgi_mix_bits(g->context + CREATION_ID) + rgi_mix_bits(count)) | 1;
}

int rgi_group_creation_result(uint64_t id, int error) {
  if (error == RG_ERR_PROC_FAILED || error == RG_ERR_REVOKED || error == RG_ERR_TIMEOUT ||
      error == RG_ERR_NOMEM)
    rgi_overlay_revoke(id);
  return error;
}

static void fill_created(rg_group made, const uint64_t creation_ids[RGI_CREATION_IDS],
                         uint32_t part, int diverged, rgi_members *members, int tag) {
  group_fill(made, members, tag,
             rgi_mix_bits(creation_ids[0] + rgi_mix_bits(creation_ids[1]) + part) | 1);
  for (int i = 0; i < RGI_CREATION_IDS; i++)
    made->creation_ids[i] = creation_ids[i];
  made->diverged = diverged;
}

int rgi_group_creation_end(const uint64_t creation_ids[RGI_CREATION_IDS], uint32_t part,
                           int diverged, rgi_members *members, int tag, rg_group *g) {
  rg_group made;
  RGI_TRY(group_alloc(members, &made));
  fill_created(made, creation_ids, part, diverged, members, tag);
  *g = made;
  return RG_SUCCESS;
}

int rgi_group_room_alloc(const char *call, int n, rgi_group_room *room) {
  *room = (rgi_group_room){0};
  RGI_TRY(rgi_members_room(call, n, &room->members));
  room->group = rgi_spare_alloc(sizeof *room->group);
  if (room->group)
    return RG_SUCCESS;
  rgi_group_room_free(room);
  return rgi_error(RG_ERR_NOMEM, "%s: no memory for a group", call);
}

void rgi_group_room_free(rgi_group_room *room) {
  rgi_spare_free(room->group);
  rgi_members_room_free(room->members);
  *room = (rgi_group_room){0};
}

int rgi_group_creation_fill(const uint64_t creation_ids[RGI_CREATION_IDS], uint32_t part,
                            int diverged, rgi_group_room *room, int n, int tag, rg_group *g) {
  rgi_members *members;
  int error = rgi_members_fill("a group", room->members, n, &members);
  room->members = NULL;
  if (error) {
    rgi_group_room_free(room);
    return error;
  }
  fill_created(room->group, creation_ids, part, diverged, members, tag);
  *g = room->group;
  room->group = NULL;
  return RG_SUCCESS;
}

/* --- the name, which the MPI view has, too ---------------------------------------------------- */

_Static_assert(RG_GROUP_NAME_MOST == RGI_LABEL_MOST, "one limit for the names of groups");

int rg_group_set_name(rg_group g, const char *name) {
  RGI_TRY(rgi_group_check(__func__, g));
  size_t length = name ? strlen(name) : 0;
  if (length > RG_GROUP_NAME_MOST)
    return rgi_error(RG_ERR_LIMIT, "%s: a name of %zu bytes; a name has at most %d", __func__,
                     length, RG_GROUP_NAME_MOST);
  RGI_TRY(rgi_label_set(&g->label, g->context, name));
  if (g->comm != MPI_COMM_NULL && rgi_runtime_check_mpi(__func__) == RG_SUCCESS)
    MPI_Comm_set_name(g->comm, rgi_label_name(g->label));
  return RG_SUCCESS;
}

int rg_group_name(rg_group g, const char **name) {
  RGI_REQUIRE(name);
  RGI_TRY(rgi_group_check(__func__, g));
  *name = rgi_label_name(g->label);
  return RG_SUCCESS;
}

/* --- the nodes of the members ----------------------------------------------------------------- */

/* The nodes are known from rg_init to rg_finalize. */
static int check_nodes(const char *call, rg_group g) {
  RGI_TRY(rgi_runtime_check(call));
  return rgi_group_check_epoch(call, g);
}

int rg_group_node(rg_group g, int rank, int *node) {
  RGI_REQUIRE(node);
  RGI_TRY(check_nodes(__func__, g));
  int size = rgi_members_count(g->members);
  if (rank < 0 || rank >= size)
    return rgi_error(RG_ERR_RANK, "%s: rank %d; the group's ranks go from 0 to %d", __func__, rank,
                     size - 1);
  *node = rgi_node_of(rgi_members_at(g->members, rank));
  return RG_SUCCESS;
}

int rg_group_node_count(rg_group g, int *count) {
  int n = 0, size;
  RGI_REQUIRE(count);
  RGI_TRY(check_nodes(__func__, g));
  char *seen = calloc((size_t)rgi_node.count, 1);
  if (!seen)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for %d nodes", __func__, rgi_node.count);
  size = rgi_members_count(g->members);
  for (int i = 0; i < size; i++) {
    char *at = &seen[rgi_node_of(rgi_members_at(g->members, i))];
    n += !*at;
    *at = 1;
  }
  free(seen);
  *count = n;
  return RG_SUCCESS;
}
