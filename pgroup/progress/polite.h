/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What polite.c tells the rest of the library, besides regroup/polite.h. */
#ifndef RGI_POLITE_H
#define RGI_POLITE_H

#define RGI_HIDDEN __attribute__((visibility("hidden")))

/* If not NULL, called in MPI's own waits when a thread has polled in vain for some time: with the
 * time of the first of these polls, and now. */
extern RGI_HIDDEN void (*rgi_polite_waits)(double since, double now);

/* The linker's fastest kind of thread-local memory: a poll in vain is a matter of nanoseconds. */
#define RGI_POLITE_THREAD _Thread_local __attribute__((tls_model("initial-exec")))

/* If not NULL, called after each poll in vain of this thread. */
extern RGI_HIDDEN RGI_POLITE_THREAD void (*rgi_polite_polled)(void);

/* Since when this thread has been waiting in a call of the library: set while that polls MPI; else
 * 0. A preloaded library's waits are reported by the library that the program is linked with. */
extern RGI_HIDDEN RGI_POLITE_THREAD double rgi_polite_own_wait;

/* How many polls of this thread have moved something; over libfabric always 1. Always 0 where
 * neither this file nor another copy of it sees polls: MPI is not MPICH over one of the two. */
RGI_HIDDEN unsigned long rgi_polite_moves(void);

/* A function of MPI that only looks begins (1) or has ended (-1): in between, polls in vain do not
 * pause where each process has a processor, unless RG_WAIT says how to wait. */
extern RGI_HIDDEN RGI_POLITE_THREAD int rgi_polite_looking;
static inline void rgi_polite_look(int begin) {
  rgi_polite_looking += begin;
}

/* Polls of this thread do nothing, so that a call of MPI's tells what has come already. No effect
 * over other transports than UCX. */
extern RGI_HIDDEN RGI_POLITE_THREAD int rgi_polite_still;

/* What this thread has waited for is there: its next poll in vain begins a new wait. */
RGI_HIDDEN void rgi_polite_end_row(void);

/* Calls that this thread has got done without a poll that moved something: served accesses to
 * windows, flushes, collectives. The thread's looks in vain between them are no wait. The code that
 * serves a call adds to it. */
extern RGI_HIDDEN RGI_POLITE_THREAD unsigned rgi_polite_served;

/* For a transport other than UCX: reads the settings; whether waits are to be polite. */
RGI_HIDDEN int rgi_polite_start(void);

/* After rgi_polite_start: whether a wait gives its processor away from its beginning. */
RGI_HIDDEN int rgi_polite_gives_away(void);

/* MPI starts, and has started: in between a timer makes this thread yield where processes share
 * processors. */
RGI_HIDDEN void rgi_polite_start_begin(void);
RGI_HIDDEN void rgi_polite_start_end(void);

/* As rgi_polite_start, for a transport whose polls are told to rgi_polite_unseen, by this copy or
 * another one. */
RGI_HIDDEN int rgi_polite_expect_unseen(void);

/* A poll of a transport has moved something or not. MPI also moves messages that are not seen. */
RGI_HIDDEN void rgi_polite_unseen(int moved);

/* Whether MPI's waits are polite in this way: they yield, and do not sleep. */
RGI_HIDDEN int rgi_polite_yields_only(void);

#endif
