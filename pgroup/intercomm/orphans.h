/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Those that sleep where the keeper of the books has died. Nobody can draw any more, but
 * somebody may have drawn, and they find out by themselves when it is over: each has a ledger
 * of its own, of who has left, which everybody is told from the beginning, and of who
 * sleeps, which they tell one another then. All others work. */
#ifndef RGI_ORPHANS_H
#define RGI_ORPHANS_H

/* Where deaths are survived on several nodes; else nothing is told. */
int rgi_orphans_open(const char *call);
void rgi_orphans_close(void);

/* Tells all others that the caller will not draw any more; that it works again, if it has told
 * them that it sleeps. */
int rgi_orphans_leave(const char *call);
int rgi_orphans_come(const char *call);

/* The caller sleeps, and the keeper has died: as rgi_ledger_over. */
int rgi_orphans_over(const char *call, int *over, int *lost);

#endif
