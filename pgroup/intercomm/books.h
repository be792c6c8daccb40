/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Where the ledger of the reserve is and how to get at it: on one node it lies in
 * the arena; on several the last process of the world has it, and the others
 * send it messages. */
#ifndef RGI_BOOKS_H
#define RGI_BOOKS_H

/* Collective over the world: the last n processes sleep; n > 0 and the same on all. */
int rgi_books_open(const char *call, int n);
void rgi_books_close(void);

/* Draws n into ranks: *there is n then, and otherwise how many sleep. */
int rgi_books_take(const char *call, int n, int ranks[], int *there);

/* Process `rank` goes to sleep, or the caller leaves. Whoever is the last one
 * outside tells all that sleep that it is over. */
int rgi_books_put(const char *call, int rank);
int rgi_books_leave(const char *call);

int rgi_books_count(const char *call, int *sleeping);

/* Sleeps until somebody calls, or serves the books until it is over: then *ints
 * is NULL. Else *ints is what the caller sent, in memory to be freed. */
int rgi_books_sleep(const char *call, int **ints);

/* Calls a process that was drawn. */
int rgi_books_call(const char *call, int rank, const int ints[], int count);

#endif
