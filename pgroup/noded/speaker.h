/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The speaker: the guardian that speaks for its node (mesh.h). It is linked with some
 * other speakers, the next living ones at distances 1, 2, 4, ... around the ring of
 * nodes; every fact that is new to it goes to all of them. Nothing here blocks. */
#ifndef RGI_SPEAKER_H
#define RGI_SPEAKER_H

#include <sys/types.h>

#include "noded/mesh.h"
#include "shm/process_table.h"

/* The arena is mapped (rgi_arena_borrow). mesh: in it; table: of the node's processes, the guard's;
 * listener, pipe: descriptors, taken over. */
int rgi_speaker_open(rgi_mesh *mesh, rgi_process_table *table, int listener, int pipe);
void rgi_speaker_close(void);

/* Readable when there is something to do (-1: no speaker); then, and every 0.1 s where
 * busy, step. */
int rgi_speaker_fd(void);
int rgi_speaker_busy(void);
void rgi_speaker_step(void);

/* Why the job cannot go on here, or NULL. */
const char *rgi_speaker_despair(void);

/* Whether the other nodes still need this one. */
int rgi_speaker_needed(void);

#endif
