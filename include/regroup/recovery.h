/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Recovery of groups after the death of members.
 *
 * Every call that waits for a member of a group with a dead member detects the death and
 * returns RG_ERR_PROC_FAILED, even if the member for which it waits is alive. What the
 * call can do without waiting, it still does. Groups without a dead member are not
 * affected: none of their calls is slowed down or ended. The survivors shrink the group
 * and continue with the new one; the old group is freed as usual.
 *
 * If a process dies while a group is being formed (by a merge, a split, or by handing over
 * processes), the group may exist on some of its members only. Its calls, and those of
 * groups made from it, then return RG_ERR_REVOKED if they would wait, including the calls
 * of this header. The program then goes back to the groups from which it was formed.
 *
 * A job survives a death only if it was started with RG_SURVIVE=1 (docs/recovery.md).
 *
 * The functions may return RG_ERR_GROUP (NULL, or the caller is not a member), RG_ERR_ARG,
 * RG_ERR_NOT_INIT, RG_ERR_NOMEM and RG_ERR_TIMEOUT. If a group has members on several
 * nodes and the job was not started with RG_SURVIVE=1, agreeing, and shrinking after a death,
 * return RG_ERR_UNSUPPORTED, and revoking ends the waits on the caller's node only.
 *
 * Shrinking, agreeing and replacing work when the node's arena is full: memory is set aside
 * for them. */
#ifndef REGROUP_RECOVERY_H
#define REGROUP_RECOVERY_H

#include <stdint.h>

#include <regroup/error.h>
#include <regroup/group.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The members that are known to be dead, in the order of detection. ranks[] gets up to max
 * ranks in g; *n is the number of all dead members. ranks may be NULL if max is 0. Local;
 * the call checks for new deaths. */
RG_API int rg_group_failed(rg_group g, int max, int ranks[], int *n);

/* The group of the survivors, in g's order. Callers: every living member, in the same
 * order as other calls of this header on g. All callers get the same group, even if more
 * members die meanwhile: the group may then contain a dead member, and the survivors
 * shrink it again. The call does not wait for members that are still busy; they call
 * later. It works on revoked groups. If no member has died the group is a duplicate of g, in a job
 * that was not started with RG_SURVIVE=1, too. Cost: inside a node no message; between n nodes at
 * most log2(n) + 1 messages of each node daemon, if no node is lost meanwhile. */
RG_API int rg_group_shrink(rg_group g, rg_group *survivors);

/* A group of g's size in which every survivor has its rank in g, and processes from the
 * reserve (reserve.h) have the ranks of the dead. In these new members rg_reserve_park
 * returns with this group. If no member has died the call is like rg_group_shrink. Callers:
 * every living member, in the same order as other calls of this header on g; the call waits
 * for all of them. Either all callers get the group or all get an error. If more members die
 * meanwhile they are replaced as well. The program must tell the new members what the dead
 * knew; rg_array_recover moves arrays to them.
 * Cost: shrinking, agreeing, a message to each new member from up to 5 members, and a
 * broadcast among the survivors.
 * Errors: RG_ERR_RESERVE (the reserve has too few processes; none is acquired; shrink g);
 * RG_ERR_UNSUPPORTED (no reserve is open). */
RG_API int rg_group_replace(rg_group g, rg_group *restored);

/* Sets *word to the bitwise and of the *word of all living members. *failed is 1 if a member
 * was dead at the time of the decision, else 0 (failed may be NULL). Callers: every living
 * member, in the same order as other calls of this header on g; the call waits for all of
 * them. All callers get the same result, even if members die meanwhile: the word of a dead
 * member counts either for all callers or for none. Cost: as rg_group_shrink. */
RG_API int rg_group_agree(rg_group g, unsigned *word, int *failed);

/* Ends all waits of all members on g with RG_ERR_REVOKED, those under way and all later
 * ones. A member calls it when it has detected a failure that the others cannot detect.
 * Callers: one or more members. Local; members on other nodes are notified a moment later.
 * Other groups are not affected, also those of the same members; a merge whose parent is g
 * ends with an error. Shrinking and agreeing still work. Errors:
 * RG_ERR_LIMIT (4,096 groups of this node are revoked and not freed). */
RG_API int rg_group_revoke(rg_group g);

/* The number of times that this job has been started again (regroup-run --restart sets
 * RG_RESTARTS): 0 for the first start. A program that is started again continues from its
 * last checkpoint (checkpoint.h). Local; works before rg_init. Errors: RG_ERR_ARG;
 * RG_ERR_OPTION (the variable has an invalid value). */
RG_API int rg_restart_count(int64_t *n);

#ifdef __cplusplus
}
#endif
#endif
