/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Checkpoints: the state of a program in files, from which it goes on after the loss of a
 * machine, of the launcher or of everything. The program goes on while the data are
 * written. The library is libregroup-arrays.
 *
 * A checkpoint holds any number of arrays and some bytes of the program's own (which
 * step it was, say), all of one moment. Of each there are two generations, the files
 * <path>.0 and <path>.1; a new one grows in <path>.part and takes the place of the older
 * one when it is complete and on the disk. So whenever and however a program dies, the
 * last one that was complete is there, and the one before it. The path names the same
 * files on all members, in a file system that they share. docs/recovery.md shows a
 * program.
 *
 * Errors, the same on every member: RG_ERR_ARG; RG_ERR_GROUP; RG_ERR_ARRAY; RG_ERR_NOMEM;
 * RG_ERR_MISMATCH (members differ in path, arrays or bytes); RG_ERR_FILE (the text has
 * the system's words); RG_ERR_PROC_FAILED (on those that notice it). */
#ifndef REGROUP_CHECKPOINT_H
#define REGROUP_CHECKPOINT_H

#include <regroup/array.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rg_checkpoint_s *rg_checkpoint;

/* Begins a checkpoint: copies the caller's elements of arrays[0..n-1] and rank 0's
 * state[0..bytes-1], and returns; a thread of each member writes the copy. Afterwards
 * the arrays and state may be changed. The arrays' groups have g's members in g's order;
 * their ghosts are left out; n and bytes may be 0.
 * Who calls: every member of g, as a collective operation on g. It has the effect of
 * rg_array_sync on all arrays, before and after. Cost in the caller: the copy (at memcpy's
 * speed, into as much memory, which goes when it is written) and five small collective
 * operations; the writing takes a part of a processor, at lower priority. MPI is not
 * called by the thread.
 * *c is ended by rg_checkpoint_wait or _test. After an error there is nothing to end.
 * Errors: RG_ERR_ARG (one to the same path has not been ended yet). */
RG_API int rg_checkpoint_start(rg_group g, const char *path, int n, const rg_array arrays[],
                               const void *state, size_t bytes, rg_checkpoint *c);

/* Waits until the checkpoint is complete on the disk, with the parts of all members, and
 * sets *c to NULL (NULL is fine). Every member, before rg_finalize. It is no good before:
 * the last step is taken here.
 * Errors (the checkpoint has come to nothing then, the generations before are as they
 * were, and *c is NULL): RG_ERR_FILE; RG_ERR_PROC_FAILED (a member has died: the
 * survivors start another one, with their own group and arrays; if all parts were there
 * this one may be complete nevertheless). RG_ERR_TIMEOUT: *c may be waited for again. */
RG_API int rg_checkpoint_wait(rg_checkpoint *c);

/* The same without waiting: *done is 1 if it is complete (*c is NULL then), 0 if not.
 * Each member as often as it likes; for the last step all need to call. */
RG_API int rg_checkpoint_test(rg_checkpoint *c, int *done);

/* Reads the newest checkpoint that is not damaged into arrays[0..n-1], which have the
 * shapes and types of those that were saved, in whatever distribution, on g's members,
 * and state. *found is 1; or 0 if there is none at all: then nothing has been changed.
 * If the newest one is damaged a warning is logged and the one before is taken.
 * Who calls: every member of g, of any size, as a collective operation on g.
 * Cost: each part of the files is read once, by one member, and put where it belongs.
 * Errors: RG_ERR_FILE (all that there are are damaged or unreadable: the text says what
 * of which; other shapes, types, or numbers of arrays or bytes than were saved). The arrays'
 * elements are undefined after an error. */
RG_API int rg_checkpoint_load(rg_group g, const char *path, int n, const rg_array arrays[],
                              void *state, size_t bytes, int *found);

#ifdef __cplusplus
}
#endif
#endif
