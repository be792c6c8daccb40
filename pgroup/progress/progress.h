/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Progress: what every wait of the library (wait.c) does for all that the process has under way.
 * The room that moves messages is above this one: it sets its functions here when it opens. */
#ifndef RGI_PROGRESS_H
#define RGI_PROGRESS_H

typedef struct {
  int (*progress)(void); /* does what can be done now; RG_ERR_MPI */
  int (*attempt)(void);  /* the same, unless some thread, also this one, is in it */
  int (*busy)(void);     /* whether something needs progress, or may arrive without a bell */
} rgi_progress_source;

/* By rg_init; NULL: by the last rg_finalize. */
void rgi_progress_use(const rgi_progress_source *source);

/* Whether there is a source: the library runs. */
int rgi_progress_ready(void);

/* Moves messages on. Without a source it does nothing. Any thread. */
int rgi_progress(void);

/* As rgi_progress, for a caller that may hold what progress needs: it returns at once where some
 * thread, also the caller, is in it already. */
int rgi_progress_attempt(void);

/* Whether something of this process needs rgi_progress, or may arrive without ringing the bell. A
 * wait for something else must not sleep long then. */
int rgi_progress_busy(void);

#endif
