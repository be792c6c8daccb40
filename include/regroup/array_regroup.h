/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Arrays that follow their group. */
#ifndef REGROUP_ARRAY_REGROUP_H
#define REGROUP_ARRAY_REGROUP_H

#include <regroup/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Hands an array over to another group: *b, on `to`, has a's shape, type and
 * elements; what stays on a member is not moved, or copied in its own memory, and
 * each other element goes from its owner to its new owner once.
 *
 * Who calls: every member of a's group and every member of `to`, and nobody else;
 * the two groups may share all, some or none of their members. A caller that is
 * only in a's group passes to = NULL and gets *b = NULL; one that is only in `to`
 * passes *a = NULL. `both` is a group of all of them (their union, in any order),
 * which carries the exchange: it is a itself's group, or `to`, where one holds the
 * other.
 * spec: the layout on `to` (grid, chunk, boundaries, ghosts; shape and type are a's
 * and ignored here), the same on all members of `to`; NULL: RG_BLOCK, and a's
 * ghosts.
 * On success *a is freed and NULL on its members. On an error a is as it was.
 * Errors, on every caller: RG_ERR_GROUP (both does not hold all; if it is no group at
 * all, only on those that passed it); RG_ERR_MISMATCH (members differ in the array, the
 * groups or the spec, or do not give what they are members of); RG_ERR_NOMEM; RG_ERR_ARG
 * (the spec; a or b is NULL). */
RG_API int rg_array_regroup(rg_array *a, rg_group both, rg_group to, const rg_array_spec *spec,
                            rg_array *b);

/* After deaths: *b, on the group of the survivors, has all of a's elements, those of the
 * dead as well; they are read from memory, which outlives its process. Nobody needs
 * the dead; inside a node no message is sent, between nodes each block is put where it
 * belongs.
 *
 * Who calls: every member of survivors, which are the members of a's group that live
 * (rg_group_shrink), in the same order as calls of recovery.h on survivors; or of the group
 * in which others are in the places of the dead (rg_group_replace): the newcomers pass
 * *a = NULL, and get what the dead had. The elements
 * of an array on one node, or without RG_ARRAY_MIRRORED, are those of this moment: what others were
 * putting when they died is there up to a word of 8 bytes, and of an accumulate by the dead each
 * element was added to or not (where that can be, a line is logged). A program that must not have
 * halves keeps a second array, copied at points where all is well, and recovers that one. The
 * elements of an array with RG_ARRAY_MIRRORED that spans nodes are all those of one rg_array_sync:
 * the last one that ended on any survivor, or one that the death has interrupted. A node of whose
 * processes nobody lives takes the elements with it that are not mirrored, and its copies of
 * others'. *b's layout is RG_BLOCK (or a's RG_BLOCK_CYCLIC) with a's ghosts, whose cells are
 * undefined; where there are as many members as before, just a's, unless that is
 * RG_IRREGULAR. On success *a is freed. All survivors return the same; on an error a is as
 * it was, and RG_ERR_PROC_FAILED means: shrink again and call again. Errors:
 * RG_ERR_GROUP (survivors is not what it should be); RG_ERR_ARRAY (nobody has it; elements are
 * lost: the text says whose; a mirrored array that was never synchronised); RG_ERR_NOMEM;
 * RG_ERR_PROC_FAILED. */
RG_API int rg_array_recover(rg_array *a, rg_group survivors, rg_array *b);

#ifdef __cplusplus
}
#endif
#endif
