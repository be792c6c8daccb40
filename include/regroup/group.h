/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Process groups.
 *
 * A group is an ordered list of processes and a context. Its members form it by
 * calling with the same list and tag. No other process takes part, and no operation
 * of the parent is needed. Forming a group sends no message, waits for no process and
 * makes no communicator. The first operation that needs a member detects that this
 * member is missing or disagrees: another order is RG_ERR_MISMATCH on the members on a node;
 * different processes, or tags, are a wait, whose report and error (RG_TIMEOUT) name
 * both lists where the members wait on one node: RG_ERR_MISMATCH where each waits in the
 * same collective and it is its group's first, else RG_ERR_TIMEOUT.
 *
 *  - Ranks of a parent are ranks in that group; "world ranks" are ranks in
 *    rg_group_world.
 *  - tag: 0 to 2^28 - 1. Groups with the same members are distinguished by their
 *    tag and, with the same tag, by the order in which each member forms them.
 *    Threads that form groups with common members at the same time need different tags.
 *  - A group formed from a range (first, last, stride) takes O(1) memory.
 *  - Groups belong to the process that formed them: every handle is freed once,
 *    with rg_group_free. Threads, and freeing what is in use: runtime.h.
 *  - Operations that communicate use the library's own duplicates, never a
 *    communicator of the application.
 *
 * Every function that takes a group may return RG_ERR_GROUP (the handle is
 * NULL), RG_ERR_ARG (an output pointer is NULL) and RG_ERR_NOMEM. Functions that
 * form groups or communicate may return RG_ERR_NOT_INIT. Only other errors are
 * named below. */
#ifndef REGROUP_GROUP_H
#define REGROUP_GROUP_H

#include <mpi.h>

#include <regroup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_group_s *rg_group;

/* The value that rg_group_rank and rg_group_translate return for a process that is
 * not a member. MPI's value, which is negative. */
#define RG_UNDEFINED MPI_UNDEFINED

/* Results of rg_group_compare: MPI's values. */
enum rg_comparison {
  RG_IDENT = MPI_IDENT,         /* the same group */
  RG_CONGRUENT = MPI_CONGRUENT, /* the same members in the same order, another context */
  RG_SIMILAR = MPI_SIMILAR,     /* the same members in another order */
  RG_UNEQUAL = MPI_UNEQUAL
};

/* The most bytes that the name of a group has, without the 0 at its end. */
#define RG_GROUP_NAME_MOST 63

/* --- forming ------------------------------------------------------------- */

/* The group of the processes of rg_init, in its communicator's order. Local: each
 * call returns a new handle of the same world group. An error after which a group is
 * to be formed anew (collectives.h) concerns later handles, too: continue with a duplicate
 * (rg_group_dup). */
RG_API int rg_group_world(rg_group *world);

/* A group of the processes of an intra-communicator, in its order. Callers: the
 * members. No message. The caller keeps comm; the group does not use it.
 * Errors: RG_ERR_COMM; RG_ERR_GROUP (a process of comm is not in the world). */
RG_API int rg_group_from_comm(MPI_Comm comm, rg_group *g);

/* A group of the processes of an MPI group, in its order. Callers: the members. No
 * message. A caller that is not a member gets NULL.
 * Errors: RG_ERR_GROUP (null, or a process that is not in the world);
 * RG_ERR_TAG. */
RG_API int rg_group_from_mpi_group(MPI_Group mpi, int tag, rg_group *g);

/* A group of the members ranks[0..n-1] of parent, in that order. Callers: the members
 * of the new group. No message; O(n) time and memory. A caller that is not a member
 * gets NULL, and so does every caller if n is 0. parent may be any group that contains
 * the members; the caller keeps it. Groups of the same processes with the same tag are
 * formed in the same order by all of them, also where their ranks have another order.
 * Errors: RG_ERR_RANK (out of range, or twice in the list); RG_ERR_TAG;
 * RG_ERR_ARG (n < 0). */
RG_API int rg_group_create(rg_group parent, int n, const int ranks[], int tag, rg_group *g);

/* A group of the members first, first + stride, ... of parent, up to last (inclusive).
 * Callers: the members of the new group. No message; O(1) time and memory if parent is a
 * range itself. A caller that is not a member gets NULL. A negative stride counts
 * downwards.
 * Errors: RG_ERR_RANK; RG_ERR_TAG; RG_ERR_ARG (stride is 0 or leads away from
 * last). */
RG_API int rg_group_create_range(rg_group parent, int first, int last, int stride, int tag,
                                 rg_group *g);

/* A group of the members of two groups: those of the group with high = 0, then those
 * of the group with high = 1.
 *
 * Callers: every member of both groups, each with its own group as `mine`.
 * remote_leader is the rank in parent of the other group's leader (rank 0). parent
 * contains both leaders; only the leaders use parent and remote_leader. tag as for
 * creating; both sides pass the same tag. It is a collective call on mine, and returns when
 * all members of both groups have called. After RG_ERR_TIMEOUT, and after the error that the
 * groups share a process, members may have counted different calls on mine: they form it
 * anew (rg_group_dup) before they merge, reassign or split it again.
 * Cost: two messages each way between the two leaders, and a gather and a broadcast along
 * a binomial tree inside each group (2 (g - 1) messages). The groups share no process.
 * Both old groups stay valid and belong to the caller.
 * Errors, on every member of both groups, also where one member alone is wrong: each
 * returns its own error or that of another member. RG_ERR_RANK; RG_ERR_TAG; RG_ERR_ARG
 * (high is neither 0 nor 1; merged is NULL); RG_ERR_MISMATCH (members of a group pass
 * different tags or values of high, or make different calls on it; both sides pass the same
 * value for high; the groups share a process); RG_ERR_TIMEOUT; RG_ERR_PROC_FAILED;
 * RG_ERR_REVOKED (also if a leader's parent is revoked, or the other group has met a death
 * in the call; both call again, until none meets a call of the other one that has failed).
 * Where the leaders do not meet, one group gets the error and the other waits, until
 * RG_TIMEOUT: a leader passes a wrong parent or remote_leader, or makes another call; with
 * MPI_THREAD_MULTIPLE also where the leaders pass different valid tags. A member that
 * passes no valid group as mine counts as one that does not call. */
RG_API int rg_group_merge(rg_group mine, rg_group parent, int remote_leader, int high, int tag,
                          rg_group *merged);

/* Divides g into groups, one for each color, ordered by (key, rank in g).
 * Callers: every member of g. color: 0 or more; a caller with RG_UNDEFINED gets NULL.
 * Cost: a gather and a broadcast along binomial trees (2 (g - 1) messages).
 * Errors, on all members, each its own or that of another one: RG_ERR_ARG (a negative
 * color other than RG_UNDEFINED; part is NULL); RG_ERR_MISMATCH (members make different
 * calls on g). */
RG_API int rg_group_split(rg_group g, int color, int key, rg_group *part);

/* Hands processes over between two groups: the members leaving[0..n-1] of `mine` (ranks
 * in mine) move to the other group, and members of the other group may move to `mine` at
 * the same time. *now is the group of which the caller is a member afterwards: the
 * members that stay, in their order, then those from the other group, in the order of
 * its list. If all members leave there is no such group any more (a group that joins
 * another passes all its members).
 *
 * Callers: every member of both groups, whether it leaves or stays, with the same list on
 * each side. parent, remote_leader, tag, cost and errors as for rg_group_merge; also
 * RG_ERR_RANK (an entry of leaving is not a rank of mine, or occurs twice) and
 * RG_ERR_MISMATCH (members of a group pass different lists). */
RG_API int rg_group_reassign(rg_group mine, rg_group parent, int remote_leader, int n,
                             const int leaving[], int tag, rg_group *now);

/* Set operations, local. Union: the members of a, followed by those of b that are not
 * in a. Intersection: the members of a that are in b. Difference: the members of a that
 * are not in b. The order is that of a, then that of b. The caller need not be a member
 * of the result; its rank is then RG_UNDEFINED, and only local calls work. An empty
 * result is NULL. If all members of the result make the same call the result is a group
 * like any other. Calls with the same operands are counted, as groups of the same members
 * are elsewhere: a process that makes one more by itself, to look at the result, must not
 * communicate on later results of the same call; other calls, and the same with other
 * operands, count for themselves. rg_group_translate and rg_group_compare count nothing. */
RG_API int rg_group_union(rg_group a, rg_group b, rg_group *g);
RG_API int rg_group_intersection(rg_group a, rg_group b, rg_group *g);
RG_API int rg_group_difference(rg_group a, rg_group b, rg_group *g);

/* A group with the same members and a new context. Callers: the members. No message. */
RG_API int rg_group_dup(rg_group g, rg_group *copy);

/* Frees the group (see runtime.h, Freeing). Local, with one exception:
 * if the group's communicator was made (rg_group_comm), every member calls, since
 * MPI_Comm_free is collective. Works also after rg_finalize. */
RG_API int rg_group_free(rg_group *g);

/* --- queries (all local) --------------------------------------------------- */

/* The caller's rank in g, or RG_UNDEFINED. O(1) for ranges, else O(log n). */
RG_API int rg_group_rank(rg_group g, int *rank);

/* The number of members of g. */
RG_API int rg_group_size(rg_group g, int *size);

/* The world ranks of all members, in order. The caller provides `world_ranks`
 * with room for rg_group_size entries. */
RG_API int rg_group_members(rg_group g, int world_ranks[]);

/* The world rank of g's first member (rank 0). */
RG_API int rg_group_leader(rg_group g, int *world_rank);

/* For each of the n ranks in a: the rank of the same process in b, or RG_UNDEFINED.
 * Errors: RG_ERR_RANK (not a rank of a); RG_ERR_ARG (n < 0). */
RG_API int rg_group_translate(rg_group a, int n, const int ranks_a[], rg_group b, int ranks_b[]);

/* Compares a and b: RG_IDENT, RG_CONGRUENT, RG_SIMILAR or RG_UNEQUAL. */
RG_API int rg_group_compare(rg_group a, rg_group b, int *result);

/* The tag with which the group was formed. */
RG_API int rg_group_tag(rg_group g, int *tag);

/* Gives this handle of the group a name, of at most RG_GROUP_NAME_MOST bytes, in place of an
 * earlier one; "" or NULL removes it. Reports of long waits and the texts of errors then name the
 * group, and so does its communicator (MPI_Comm_set_name). Members may give different names; groups
 * formed out of g have no name. Threads: runtime.h.
 * Errors: RG_ERR_LIMIT (a longer name). */
RG_API int rg_group_set_name(rg_group g, const char *name);

/* The name of the group, "" if it has none. It belongs to the group and is valid until the name
 * is set again or the handle is freed. */
RG_API int rg_group_name(rg_group g, const char **name);

/* The index of the node that the member `rank` is on, among the nodes of the world in the order of
 * their lowest world ranks, from 0. Two processes have the same index if they share memory.
 * O(log nodes). Errors: RG_ERR_RANK (not a rank of g); RG_ERR_NOT_INIT; RG_ERR_GROUP (g was formed
 * before the last rg_finalize). */
RG_API int rg_group_node(rg_group g, int rank, int *node);

/* The number of nodes that g has members on. O(members). Errors: RG_ERR_NOT_INIT; RG_ERR_GROUP. */
RG_API int rg_group_node_count(rg_group g, int *count);

/* *valid is 1 if the handle is a group that has not been freed and whose parts are
 * consistent, else 0 (also for NULL). For tests and debugging; O(n). */
RG_API int rg_group_is_valid(rg_group g, int *valid);

/* --- the MPI communicator --------------------------------------------------- */

/* Returns an MPI communicator of g's members in g's order (the group's MPI view), for
 * MPI's own calls. Callers: every member, the first time; the members alone make the
 * communicator then, as by rg_comm_create_group. Afterwards the call is local. *comm
 * belongs to the group and is freed with it; the caller does not free it. Members that
 * call for overlapping groups do so in the same order, or in different threads.
 * Cost: as rg_comm_create_group, the first time.
 * Errors: as rg_comm_create_group (if a member has died the group has no communicator:
 * shrink the group, and call for that of the survivors); RG_ERR_REVOKED; RG_ERR_GROUP
 * (the caller is not a member). */
RG_API int rg_group_comm(rg_group g, MPI_Comm *comm);

/* Returns an MPI group of g's members in g's order, which the caller frees with MPI_Group_free.
 * The caller need not be a member. Local. Cost: O(1) for ranges, else O(members).
 * Errors: RG_ERR_NOT_INIT; RG_ERR_GROUP (g was formed before the last rg_finalize); RG_ERR_MPI. */
RG_API int rg_group_mpi_group(rg_group g, MPI_Group *mpi);

#ifdef __cplusplus
}
#endif
#endif
