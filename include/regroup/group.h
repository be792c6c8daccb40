/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Process groups.
 *
 * A group is a list of processes in an order, and a context. Its members form it
 * by calling with the same list and tag; no other process takes part and nothing
 * is done over the parent. Forming a group sends no message, waits for nobody
 * and makes no communicator: a member that is missing or disagrees is noticed by
 * the first operation that needs it.
 *
 *  - Ranks of a parent are ranks in that group; "world ranks" are ranks in
 *    rg_group_world.
 *  - tag: 0 to 2^28 - 1. Groups with the same members are told apart by their
 *    tag and, with the same tag, by the order in which each member forms them.
 *    Groups formed at the same time in different threads of a process need
 *    different tags if they share members.
 *  - A group formed from a range (first, last, stride) takes O(1) memory.
 *  - Groups belong to the process that formed them: every handle is freed once,
 *    with rg_group_free. Local calls may be made by several threads on the same
 *    group; calls that communicate on the same group may not.
 *  - Operations that communicate use duplicates of the library's own, never a
 *    communicator of the application.
 *
 * Every function that takes a group may return RG_ERR_GROUP (the handle is
 * NULL), RG_ERR_ARG (an output pointer is NULL) and RG_ERR_NOMEM, and those that
 * form groups or communicate RG_ERR_NOT_INIT; only other errors are named
 * below. */
#ifndef REGROUP_GROUP_H
#define REGROUP_GROUP_H

#include <mpi.h>

#include <regroup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_group_s *rg_group;

/* A rank that is none: what rg_group_rank and rg_group_translate give for a
 * process that is no member. */
#define RG_UNDEFINED (-1)

/* Results of rg_group_compare. */
enum {
  RG_IDENT,     /* the same group */
  RG_CONGRUENT, /* same members in the same order, another context */
  RG_SIMILAR,   /* same members in another order */
  RG_UNEQUAL
};

/* --- forming ------------------------------------------------------------- */

/* The processes of rg_init, in its communicator's order. Local: each call gives
 * a handle of its own to the one world group. */
RG_API int rg_group_world(rg_group *world);

/* The processes of an intra-communicator, in its order. Members call; no
 * message; comm stays the caller's and is not kept.
 * Errors: RG_ERR_COMM; RG_ERR_GROUP (a process of comm is not in the world). */
RG_API int rg_group_from_comm(MPI_Comm comm, rg_group *g);

/* The processes of an MPI group, in its order. Members call; no message. A
 * caller that is no member gets NULL.
 * Errors: RG_ERR_GROUP (null, or a process that is not in the world);
 * RG_ERR_TAG. */
RG_API int rg_group_from_mpi_group(MPI_Group mpi, int tag, rg_group *g);

/* The members ranks[0..n-1] of parent, in that order. Members call; no message;
 * O(n) time and memory. A caller that is no member, and every caller when n is
 * 0, gets NULL. parent may be any group that holds them; it is not kept.
 * Errors: RG_ERR_RANK (out of range, or twice in the list); RG_ERR_TAG;
 * RG_ERR_ARG (n < 0). */
RG_API int rg_group_create(rg_group parent, int n, const int ranks[], int tag, rg_group *g);

/* The members first, first + stride, ... of parent, as far as last (inclusive).
 * Members call; no message; O(1) time and memory if parent is a range itself. A
 * caller that is no member gets NULL. A negative stride counts downwards.
 * Errors: RG_ERR_RANK; RG_ERR_TAG; RG_ERR_ARG (stride is 0 or leads away from
 * last). */
RG_API int rg_group_create_range(rg_group parent, int first, int last, int stride, int tag,
                                 rg_group *g);

/* One group of the members of two: those of the group that says high = 0, then
 * those of the one that says high = 1.
 *
 * Who calls: every member of both groups, each with its own group as `mine`.
 * remote_leader: rank in parent of the other group's first member (rank 0);
 * parent holds both first members; only the first members use parent and
 * remote_leader. tag as for creating: both sides name the same one.
 * Cost: one message each way between the two first members, and a broadcast
 * along a binomial tree inside each group (g - 1 messages). The groups share no
 * process. Both old groups stay valid and are the caller's.
 * Errors (on every member of both, unless the leaders cannot meet): RG_ERR_RANK;
 * RG_ERR_TAG; RG_ERR_ARG (high is neither 0 nor 1); RG_ERR_MISMATCH (both sides
 * said the same for high; the two leaders do not name each other; the groups
 * share a process); RG_ERR_TIMEOUT; RG_ERR_PROC_FAILED; RG_ERR_REVOKED (also when a
 * leader's parent is revoked). */
RG_API int rg_group_merge(rg_group mine, rg_group parent, int remote_leader, int high, int tag,
                          rg_group *merged);

/* Parts of g, one for each color, ordered by (key, rank in g).
 * Who calls: every member of g. color: 0 or more; RG_UNDEFINED gives NULL.
 * Cost: a gather and a broadcast along binomial trees (2 (g - 1) messages).
 * Errors: RG_ERR_ARG (a negative color other than RG_UNDEFINED); the error of
 * one member is told to all. */
RG_API int rg_group_split(rg_group g, int color, int key, rg_group *part);

/* Hands processes over between two groups: of `mine`, the members
 * leaving[0..n-1] (ranks in mine) go to the other group, and the other side may
 * do the same at the same time. *now is the group that the caller belongs to
 * afterwards: the stayers of a group in their order, then those that came from
 * the other, in the order of their list. A group that all leave ceases to be
 * (a group that joins another gives all its members away).
 *
 * Who calls: every member of both groups, leavers and stayers alike, each side
 * with the same list. parent, remote_leader, tag, cost and errors as for
 * rg_group_merge; also RG_ERR_RANK (a leaver is no rank of mine, or is named
 * twice). */
RG_API int rg_group_reassign(rg_group mine, rg_group parent, int remote_leader, int n,
                             const int leaving[], int tag, rg_group *now);

/* Set operations, local: the members of a followed by those of b that are not in
 * a; the members of a that are in b; the members of a that are not in b; always
 * in the order of a first. The caller need not be a member of the result (its
 * rank is then RG_UNDEFINED and only local calls work); an empty result is NULL.
 * When all members of the result make the same call it is a group like any
 * other. */
RG_API int rg_group_union(rg_group a, rg_group b, rg_group *g);
RG_API int rg_group_intersection(rg_group a, rg_group b, rg_group *g);
RG_API int rg_group_difference(rg_group a, rg_group b, rg_group *g);

/* A group with the same members and a context of its own. Members call; no
 * message. */
RG_API int rg_group_dup(rg_group g, rg_group *copy);

/* Gives the group up and sets the handle to NULL; a handle that is NULL already
 * is fine. Local, except that a group whose MPI view was made (rg_group_comm) is
 * freed by every member: MPI_Comm_free is collective. Works after rg_finalize
 * too. */
RG_API int rg_group_free(rg_group *g);

/* --- asking (all local) ---------------------------------------------------- */

/* The caller's rank in g, or RG_UNDEFINED. O(1) for ranges, else O(log n). */
RG_API int rg_group_rank(rg_group g, int *rank);

/* How many members g has. */
RG_API int rg_group_size(rg_group g, int *size);

/* The world ranks of all members, in order; the caller provides `world_ranks`
 * with room for rg_group_size entries. */
RG_API int rg_group_members(rg_group g, int world_ranks[]);

/* The world rank of g's first member (rank 0). */
RG_API int rg_group_leader(rg_group g, int *world_rank);

/* For each of the n ranks in a: the rank of the same process in b, or
 * RG_UNDEFINED. Errors: RG_ERR_RANK (no rank of a); RG_ERR_ARG (n < 0). */
RG_API int rg_group_translate(rg_group a, int n, const int ranks_a[], rg_group b, int ranks_b[]);

/* How a and b compare: RG_IDENT, RG_CONGRUENT, RG_SIMILAR or RG_UNEQUAL. */
RG_API int rg_group_compare(rg_group a, rg_group b, int *result);

/* The tag the group was formed with. */
RG_API int rg_group_tag(rg_group g, int *tag);

/* *valid is 1 if the handle is a living group whose parts agree with one
 * another, else 0 (also for NULL). For tests and debugging; O(n). */
RG_API int rg_group_is_valid(rg_group g, int *valid);

/* --- the MPI view ---------------------------------------------------------- */

/* An MPI communicator of g's members in g's order, for MPI's own calls.
 * Who calls: every member, the first time (it is made then, by the members
 * alone: rg_comm_create_group); afterwards local. *comm belongs to the group and
 * is freed with it: do not free it. Members that ask for views of overlapping
 * groups ask in the same order, or in different threads.
 * Errors: as rg_comm_create_group (when a member has died the group is still
 * without a view: shrink it, and ask for that of the survivors); RG_ERR_REVOKED;
 * RG_ERR_GROUP (the caller is no member). */
RG_API int rg_group_comm(rg_group g, MPI_Comm *comm);

#ifdef __cplusplus
}
#endif
#endif
