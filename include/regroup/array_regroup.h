/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Arrays that move to another group. */
#ifndef REGROUP_ARRAY_REGROUP_H
#define REGROUP_ARRAY_REGROUP_H

#include <regroup/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Moves an array to another group: replaces *a by an array on `to` with the same shape, type
 * and elements, and frees the old one. Elements that stay on a member are not moved, or are
 * copied in its own memory. Each other element moves once, from its owner to its new owner.
 *
 * Callers: every member of the array's group and every member of `to`, and no other process.
 * The two groups may share all, some or none of their members. A caller that is only in the
 * array's group passes to = NULL; its *a becomes NULL. A caller that is only in `to` passes
 * *a = NULL. `both` is a group of all callers (the union of both groups, in any order),
 * on which the data are exchanged. If one of the groups contains the other, `both` may
 * be the array's own group, or `to`.
 * spec: the layout on `to` (grid, chunk, boundaries, ghosts; shape, type and name are the array's
 * and ignored here), the same on all members of `to`; NULL: RG_LAYOUT_BLOCK, and the
 * array's ghosts.
 * On an error *a and the array are unchanged.
 * Errors, on every caller: RG_ERR_GROUP (both does not contain all members; if it is not
 * a group at all, only on the callers that passed it); RG_ERR_MISMATCH (members differ in
 * the array, the groups or the spec, or do not pass an array or group of which they are
 * members); RG_ERR_NOMEM; RG_ERR_ARG (the spec; a is NULL). */
RG_API int rg_array_regroup(rg_group both, rg_group to, const rg_array_spec *spec, rg_array *a);

/* Recovers an array after deaths: replaces *a by an array on the group of the survivors that has
 * all elements, including those of the dead members, and frees the old one. The survivors read them
 * from memory, which outlives its process; the call needs nothing from the dead. Cost: inside a
 * node no message; between nodes each block is put to its new owner.
 *
 * Callers: every member of `survivors`, in the same order as calls of recovery.h on this group.
 * The group consists of the living members of the array's group (rg_group_shrink), or of these and
 * the new members that have the ranks of the dead (rg_group_replace). A new member passes *a = NULL
 * and gets the elements of the member whose rank it has.
 *
 * If the array is on one node, or without RG_ARRAY_MIRRORED, its elements are those of the moment
 * of the call. What a member was putting when it died is complete up to a word of 8 bytes. Of an
 * accumulate by a member that died, each element either was added to or was not; if this may have
 * happened, a line is logged. A program that must not continue with such partial changes copies
 * the array to a second one at points where its state is consistent, and recovers the second one.
 * If the array has RG_ARRAY_MIRRORED and spans nodes, all its elements are those of one
 * rg_array_sync: the last one that returned on any survivor, or one that the death has
 * interrupted. If no process of a node lives, the elements there that are not mirrored are lost,
 * and so are its copies of other elements.
 *
 * The new layout is RG_LAYOUT_BLOCK (or the old RG_LAYOUT_BLOCK_CYCLIC) with the old ghosts, whose
 * cells are undefined. If the group has as many members as before, the layout is the old one,
 * unless that is RG_LAYOUT_IRREGULAR. All survivors return the same result. On an error *a and the
 * array are unchanged; after RG_ERR_PROC_FAILED the survivors shrink their group again and call
 * again. Errors: RG_ERR_GROUP (survivors is not such a group); RG_ERR_ARRAY (no member has the
 * array; elements are lost: the message says whose; a mirrored array was never synchronised);
 * RG_ERR_NOMEM; RG_ERR_PROC_FAILED. */
RG_API int rg_array_recover(rg_group survivors, rg_array *a);

#ifdef __cplusplus
}
#endif
#endif
