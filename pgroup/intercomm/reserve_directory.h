/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Where the table of the reserve is and how to get at it: on one node it lies in
 * the arena; on several the last process of the world has it, and the others
 * send it messages. */
#ifndef RGI_RESERVE_DIRECTORY_H
#define RGI_RESERVE_DIRECTORY_H

#include <regroup/group.h>
#include <stdint.h>

/* By all processes of the world: process 0's *n counts, or another's if it has died. The
 * last *n sleep then. Nothing is opened where *n is not more than 0 and less than the world. */
int rgi_reserve_directory_open(const char *call, rg_group world, int *n);
void rgi_reserve_directory_close(void);

/* Draws n for an operation (or 0) into ranks: *there is n then, and otherwise how many
 * sleep. */
int rgi_reserve_directory_acquire(const char *call, int n, uint64_t number, int ranks[],
                                  int *there);

/* Process `rank` goes to sleep; the caller leaves; the caller was drawn and comes. */
int rgi_reserve_directory_release(const char *call, int rank);
int rgi_reserve_directory_leave(const char *call);
int rgi_reserve_directory_join(const char *call);

int rgi_reserve_directory_count(const char *call, int *sleeping);

/* Sleeps until somebody calls, or serves the directory until it is over: then *ints
 * is NULL. Else *ints is what the caller sent, in memory to be freed. RG_ERR_PROC_FAILED:
 * all that worked have died. */
int rgi_reserve_directory_sleep(const char *call, int **ints);

/* Calls a process that was drawn. */
int rgi_reserve_directory_notify(const char *call, int rank, const int ints[], int count);

#endif
