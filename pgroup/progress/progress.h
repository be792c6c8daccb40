/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Progress: what every wait of the library does for all that the process has under way. The room
 * that moves messages names its functions here when it opens, so that waits and requests need not
 * know it. */
#ifndef RGI_PROGRESS_H
#define RGI_PROGRESS_H

typedef struct {
  int (*progress)(void); /* does what can be done now; RG_ERR_MPI */
  int (*busy)(void);     /* whether something waits for progress, or may come without a bell */
} rgi_progress_source;

/* From rg_init to rg_finalize; NULL: there is no source any more. */
void rgi_progress_use(const rgi_progress_source *source);

/* Whether there is one: the library runs. */
int rgi_progress_ready(void);

/* Messages only. Any thread. */
int rgi_progress(void);

/* Whether something of this process's waits for rgi_progress, or may be coming
 * without ringing the bell: then a wait for something else must not sleep long. */
int rgi_progress_busy(void);

#endif
