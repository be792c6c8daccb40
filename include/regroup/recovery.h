/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Recovery: what a group does when one of its members has died.
 *
 * A death is noticed by every call that waits for somebody of a group with a dead
 * member: it ends with RG_ERR_PROC_FAILED, whoever it was waiting for. What a call
 * can do without waiting it still does. Groups without the dead are not concerned:
 * none of their calls is slowed or ended. The survivors then shrink the group and go
 * on with the new one; the old one is freed as usual.
 *
 * A group that was being formed (merged, split, handed over) when somebody died may
 * have come to be for some of its members only. Its calls, and those of groups made
 * from it, then end with RG_ERR_REVOKED where they would wait, those of this header as
 * well: go back to the groups from which it was formed.
 *
 * A job only survives a death if it was started so (docs/recovery.md).
 *
 * Functions here return RG_ERR_GROUP (NULL, or the caller is no member), RG_ERR_ARG,
 * RG_ERR_NOT_INIT, RG_ERR_NOMEM and RG_ERR_TIMEOUT; shrinking and agreeing also
 * RG_ERR_UNSUPPORTED for a group whose members are on several nodes in a job that was not
 * started so that it survives. Then revoking ends the waits of the caller's node only. */
#ifndef REGROUP_RECOVERY_H
#define REGROUP_RECOVERY_H

#include <regroup/error.h>
#include <regroup/group.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The members that are known to be dead, in the order in which it was noticed:
 * ranks[0..max-1] in g as far as there are so many, and *n, how many there are in
 * all; ranks may be NULL if max is 0. Local; looks anew. */
RG_API int rg_group_failed(rg_group g, int max, int ranks[], int *n);

/* The group of the survivors, in g's order. Who calls: every member that lives, in
 * the same order as other calls of this header on g. All of them get the same group,
 * also if more die meanwhile: such a group may hold a dead member again, and is shrunk
 * again. Nobody waits for members that are still busy: they come later. Works on
 * revoked groups. Inside a node no message; between nodes the guardians' at most log2(n) + 1
 * for a node, with n nodes, when none of them is lost meanwhile. */
RG_API int rg_group_shrink(rg_group g, rg_group *survivors);

/* A group of g's size in which everybody has the rank that he has in g, and processes out of
 * the reserve (reserve.h) have the ranks of the dead: they come back from rg_reserve_park with
 * this group. Where nobody has died it is as rg_group_shrink. Who calls: every member that
 * lives, in the same order as other calls of this header on g; waits for all of them. All get
 * the group or all get an error, also if more die meanwhile: those are replaced as well. What
 * the dead knew, the newcomers have to be told; rg_array_recover hands arrays over.
 * Cost: shrinking, agreeing, a message to each newcomer from up to 5 members, a broadcast
 * among the survivors.
 * Errors: RG_ERR_RESERVE (fewer sleep than are to be replaced: nobody is drawn; shrink g);
 * RG_ERR_UNSUPPORTED (no reserve is open). */
RG_API int rg_group_replace(rg_group g, rg_group *restored);

/* The bitwise and of all *word of the members that live, and whether somebody has died:
 * *failed is 1 if a member was dead when this was decided, else 0 (may be NULL). Who
 * calls: as above; waits for every member that lives. All get the same answer, also
 * when some die meanwhile; whether a dead member's word counts is the same for all. */
RG_API int rg_group_agree(rg_group g, unsigned *word, int *failed);

/* Ends all waits on g, of all members, with RG_ERR_REVOKED, those under way and all
 * later ones: for a member that has seen a failure that others cannot see. One member
 * calls, or several. Shrinking and agreeing still work. Local. Errors: RG_ERR_LIMIT
 * (4,096 groups have been revoked). Members on other nodes hear of it a moment later. */
RG_API int rg_group_revoke(rg_group g);

/* How many times this job has been started again (regroup-run --restart sets
 * RG_RESTARTS): 0 for the first start. A program that is started again goes on from its
 * last checkpoint (checkpoint.h). Local; works before rg_init. Errors: RG_ERR_ARG;
 * RG_ERR_OPTION (the variable has a bad value). */
RG_API int rg_restarts(int *n);

#ifdef __cplusplus
}
#endif
#endif
