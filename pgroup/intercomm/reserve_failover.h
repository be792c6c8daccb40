/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Those that sleep where the holder of the directory has died. Nobody can draw any more, but
 * somebody may have drawn, and they find out by themselves when it is over: each has a table
 * of its own, of who has left, which everybody is told from the beginning, and of who
 * sleeps, which they tell one another then. All others work. */
#ifndef RGI_RESERVE_FAILOVER_H
#define RGI_RESERVE_FAILOVER_H

/* Where deaths are survived on several nodes; else nothing is told. */
int rgi_reserve_failover_open(const char *call);
void rgi_reserve_failover_close(void);

/* Tells all others that the caller will not draw any more; that it works again, if it has told
 * them that it sleeps. */
int rgi_reserve_failover_leave(const char *call);
int rgi_reserve_failover_join(const char *call);

/* The caller sleeps, and the holder has died: as rgi_reserve_table_finished. */
int rgi_reserve_failover_finished(const char *call, int *over, int *lost);

#endif
