/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Programs on Global Arrays' interface (libregroup-ga) that also use this library's own calls: the
 * array behind a handle, and to go on after a death. */
#ifndef REGROUP_GA_H
#define REGROUP_GA_H

#include <regroup/array.h>
#include <regroup/group.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The array behind a handle of Global Arrays. It belongs to the handle; the caller does not free
 * it. Local. Errors: RG_ERR_ARRAY (there is no such array, or it is not allocated); RG_ERR_ARG. */
RG_API int rg_ga_array(int g_a, rg_array *a);

/* keep not 0: a call of Global Arrays' interface that meets a dead process (RG_ERR_PROC_FAILED) or
 * a revoked group (RG_ERR_REVOKED) returns instead of ending the job; so do later calls that fail,
 * until rg_ga_failure. Results of such calls are undefined. 0: each error ends the job, as at
 * first. Local. No errors. */
RG_API int rg_ga_keep_failures(int keep);

/* *code is the first error that a call has kept since the last call of this function, else
 * RG_SUCCESS. Local. Errors: RG_ERR_ARG. */
RG_API int rg_ga_failure(int *code);

/* Goes on after a death: from now on `survivors` is the group of all processes of Global Arrays'
 * interface, and its default group. Each array that was on all processes is recovered
 * (rg_array_recover) under its handle; other arrays and groups stay, and can only be destroyed.
 * Callers: every member of survivors (rg_group_shrink of the group of all); the caller keeps it.
 * All have the same arrays. Errors: those of rg_array_recover, and then the arrays before the
 * failing one are recovered: after RG_ERR_PROC_FAILED the survivors shrink again, and call again.
 */
RG_API int rg_ga_recover(rg_group survivors);

#ifdef __cplusplus
}
#endif
#endif
