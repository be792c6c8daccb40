/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Checkpoints: the state of a program in files. From a checkpoint the program continues
 * after the loss of a machine, of the launcher or of the whole job. It also continues while
 * the data are written. The library is libregroup-arrays.
 *
 * A checkpoint contains any number of arrays and some bytes of the program (the number of a
 * step, for instance), all of one moment. There are two generations of each, the files
 * <path>.0 and <path>.1. A new checkpoint is written to <path>.part.<number> and replaces the
 * older generation, or one that is not known to be whole, when it is complete and on the disk. So
 * whenever a program dies, for any reason, the last complete checkpoint and the one before it
 * exist. The path names the same files on all members, in a file system that they share.
 * docs/recovery.md shows a program. When the last one is due, before the job ends, says
 * checkpoint_due.h.
 *
 * Each start of a checkpoint claims the next number, which the file <path>.lock holds. Only the
 * latest claim can complete a checkpoint. A job, or a part of a job, that has been cut off from
 * one that continues gets RG_ERR_FILE, and changes no file, from the moment on when the other one
 * has claimed: its members know an earlier claim only. These may claim nevertheless: members of
 * which none has taken part in a claim for this path or loaded from it; members that have loaded a
 * checkpoint of this path since, unless another job has loaded after them; survivors of a group
 * whose last checkpoint ended with a death or a revocation, if the later claims are of their own
 * job. A job is told by a random number that the first rg_init draws. So groups that write to the
 * same path in turn have a common member, or load first.
 *
 * The arrays and the group may be freed while the checkpoint is written: it has a copy of the
 * elements and a group of its own. A checkpoint under way is not freed but ended, by
 * rg_checkpoint_wait or rg_checkpoint_test, and not while another thread is inside a call on
 * it.
 *
 * Errors, the same on every member: RG_ERR_ARG; RG_ERR_GROUP; RG_ERR_ARRAY; RG_ERR_NOMEM;
 * RG_ERR_MISMATCH (members differ in path, arrays or bytes); RG_ERR_FILE (the message
 * contains that of the system); RG_ERR_PROC_FAILED (on the members that detect a death). */
#ifndef REGROUP_CHECKPOINT_H
#define REGROUP_CHECKPOINT_H

#include <regroup/array.h>
#include <regroup/checkpoint_due.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_checkpoint_s *rg_checkpoint;

/* Begins a checkpoint: copies the caller's elements of arrays[0..n-1] and rank 0's
 * state[0..bytes-1], and returns. A thread of each member writes the copy. The caller may
 * change the arrays and the state after the call. The arrays' groups have g's members in g's
 * order; their ghosts are not saved; n and bytes may be 0.
 * Callers: every member of g, as a collective operation on g. The call has the effect of
 * rg_array_sync on all arrays, before and after. Cost to the caller: the copy (at the speed
 * of memcpy, into as much memory, which is freed when the copy is written) and five small
 * collective operations. The first call on files that the program has not loaded reads the newest
 * generation, since that is replaced if it is damaged. The writing uses a part of a processor, at
 * lower priority. The thread does not call MPI.
 * rg_checkpoint_wait or rg_checkpoint_test ends *c. After an error there is nothing to end.
 * Errors: RG_ERR_ARG (a checkpoint to the same path has not been ended yet); RG_ERR_FILE (also:
 * the members are cut off; a generation cannot be read, which is not the same as a damaged one:
 * it may be the only whole one). */
RG_API int rg_checkpoint_start(rg_group g, const char *path, int64_t n, const rg_array arrays[],
                               const void *state, size_t bytes, rg_checkpoint *c);

/* Waits until the checkpoint is complete on the disk, with the parts of all members, and
 * sets *c to NULL. *c may be NULL. Callers: every member, before rg_finalize. The checkpoint
 * is not valid before, since this call or rg_checkpoint_test completes it: a program that only
 * waits before the next start loses one whose parts are on the disk if the job ends in between.
 * Errors (then the checkpoint does not exist, the previous generations are unchanged, and *c
 * is NULL): RG_ERR_FILE (also: a later one was begun elsewhere; or the folder cannot be written to
 * the disk, then the checkpoint may exist nevertheless); RG_ERR_PROC_FAILED (a member has died:
 * the survivors start another checkpoint, with their own group and arrays; if all parts were on the
 * disk this one may be complete nevertheless). After RG_ERR_TIMEOUT the caller may wait for *c
 * again. */
RG_API int rg_checkpoint_wait(rg_checkpoint *c);

/* The same without waiting: *done is 1 if the checkpoint is complete (*c is NULL then), 0 if
 * not. Each member may call any number of times, best in each step; completion requires calls by
 * all members. *c may be NULL. Cost: local, a few loads. */
RG_API int rg_checkpoint_test(rg_checkpoint *c, int *done);

/* Reads the newest checkpoint that is not damaged into arrays[0..n-1] and state[0..bytes-1]: the
 * state that rank 0 has saved is filled in on all members. The
 * arrays have the shapes and types of those that were saved, any distribution, and g's members.
 * *found is 1, or 0 if there is no checkpoint; then nothing has been changed. If the newest
 * one is damaged a warning is logged and the previous one is read; if one cannot be read, which is
 * not the same, that is an error.
 * Callers: every member of g, of any size, as a collective operation on g.
 * Cost: each part of the files is read once, by one member, and put to its owner.
 * Errors: RG_ERR_FILE (all existing checkpoints are damaged, or one cannot be read now: the message
 * says what is wrong with which; the folder does not exist; shapes, types, or numbers of arrays
 * or bytes differ from the saved ones; or g's members have written checkpoints to this path and
 * another job has begun one since: this job is cut off from it). The arrays' elements
 * are undefined after an error. */
RG_API int rg_checkpoint_load(rg_group g, const char *path, int64_t n, const rg_array arrays[],
                              size_t bytes, void *state, int *found);

#ifdef __cplusplus
}
#endif
#endif
