/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the files polite*.c tell one another. */
#ifndef RGI_POLITE_H
#define RGI_POLITE_H

#include "mpich/mpich.h"

#pragma GCC visibility push(hidden)

/* A function of MPI that only looks begins (1) or has ended (-1): in between, polls in vain do not
 * pause where each process has a processor, unless RG_WAIT says how to wait. */
extern RGI_MPICH_THREAD int rgi_polite_looking;
static inline void rgi_polite_look(int begin) {
  rgi_polite_looking += begin;
}

/* For a transport other than UCX: reads the settings; whether waits are to be polite. */
int rgi_polite_start(void);

/* After rgi_polite_start: whether a wait gives its processor away from its beginning. */
int rgi_polite_gives_away(void);

/* As rgi_polite_start, for a transport whose polls are told to rgi_polite_unseen, by this copy or
 * another one. */
int rgi_polite_expect_unseen(void);

/* A poll of a transport has moved something or not. MPI also moves messages that are not seen. */
void rgi_polite_unseen(int moved);

#pragma GCC visibility pop

#endif
