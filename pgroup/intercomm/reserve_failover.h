/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * How processes that sleep find the end of the reserve after its directory's holder has died. No
 * process can be acquired any more, but a process acquired before may still be told so. */
#ifndef RGI_RESERVE_FAILOVER_H
#define RGI_RESERVE_FAILOVER_H

/* Prepares for it where deaths are survived on several nodes; elsewhere the calls below do
 * nothing. */
int rgi_reserve_failover_open(const char *call);
void rgi_reserve_failover_close(void);

/* Tells all other processes that the caller has left for good; that it works again, if it has
 * told them that it sleeps. */
int rgi_reserve_failover_leave(const char *call);
int rgi_reserve_failover_join(const char *call);

/* Called by a process that sleeps, after the holder's death: as rgi_reserve_table_finished. */
int rgi_reserve_failover_finished(const char *call, int *over, int *lost);

#endif
