/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The speaker: the guardian that speaks for its node (mesh.h). It is linked with some
 * other speakers, the next living ones at distances 1, 2, 4, ... around the ring of
 * nodes; every fact that is new to it goes to all of them. Nothing here blocks. */
#ifndef RGI_SPEAKER_H
#define RGI_SPEAKER_H

#include <sys/types.h>

#include "runtime/mesh.h"

/* The arena is there (rgi_arena_borrow). mesh: in it; bells: the node's processes; lives:
 * of liveness.h; listener, pipe: descriptors, taken over. */
int rgi_speaker_open(rgi_mesh *mesh, void *bells, void *lives, int listener, int pipe);
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

/* For the council: whether a node is lost; this node. By index. */
int rgi_speaker_lost(int node);
int rgi_speaker_node(void);

#endif
