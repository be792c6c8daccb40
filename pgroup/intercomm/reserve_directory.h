/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The reserve's directory: access to its table, by each process itself, or by queries to the last
 * process of the world (the holder): on several nodes in a job that does not survive. */
#ifndef RGI_RESERVE_DIRECTORY_H
#define RGI_RESERVE_DIRECTORY_H

#include <regroup/group.h>

#include "intercomm/reserve_table.h"

/* Called by all processes of the world. Process 0's *n counts, or each process's own if process 0
 * has died. The last *n processes sleep then. Nothing is opened unless *n is more than 0 and less
 * than the size of the world. */
int rgi_reserve_directory_open(const char *call, rg_group world, int *n);
void rgi_reserve_directory_close(void);

/* Acquires processes for the caller (rgi_reserve_table_acquire). Waits for those whose acquisition
 * by another group has failed. */
int rgi_reserve_directory_acquire(const char *call, rgi_reserve_table_wish *wish);

/* Process `rank` is in reserve from now on; the caller leaves for good; the caller was acquired
 * and works. */
int rgi_reserve_directory_release(const char *call, int rank);
int rgi_reserve_directory_leave(const char *call);
int rgi_reserve_directory_join(const char *call);

int rgi_reserve_directory_count(const char *call, int *sleeping);

/* Sleeps, or serves the directory on its holder, until the caller is acquired or the reserve
 * ends. *ints: the acquirer's message, in memory to be freed; at the end NULL.
 * RG_ERR_PROC_FAILED: all processes that worked have died. */
int rgi_reserve_directory_sleep(const char *call, int **ints);

/* Sends an acquired process its message. */
int rgi_reserve_directory_notify(const char *call, int rank, const int ints[], int count);

#endif
