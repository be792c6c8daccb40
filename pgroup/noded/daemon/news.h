/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What guards and daemons tell regroup-run (recovery/run/), which the launcher does not: lines on
 * standard error, which the launcher brings from any node. Before each is a mark that regroup-run
 * has drawn at random for this start of the job, if it listens: programs do not know it, so nothing
 * that they print is taken for news. regroup-run removes it. Uses no MPI. */
#ifndef RGI_NEWS_H
#define RGI_NEWS_H

#include "noded/wire/overlay.h"

/* The variable of the environment with the mark. Ranks do not have it. */
#define RGI_NEWS_MARK "REGROUP_RUN_MARK"

/* Whether regroup-run listens. */
int rgi_news_are_wanted(void);

/* Prints a line, which ends with a newline. */
void rgi_news_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* This rank and all others of its node have ended with status 0 before MPI_Init. That is no fault
 * if the ranks of the other nodes do so, too. Says nothing to people. */
void rgi_news_early(const char *rank);
#define RGI_NEWS_EARLY " and its node have ended early"

/* A node is lost. */
void rgi_news_loss(rgi_overlay *overlay, int node);

/* The job has ended well without so many nodes, or without so many processes. */
void rgi_news_end(const rgi_overlay *overlay, int lost_nodes, int deaths);

/* All ranks have come to the end of rg_finalize; where a node's host can be asked whether it lives.
 * Under srun only: Slurm may take minutes to see that a node is lost afterwards. */
void rgi_news_left(rgi_overlay *overlay, int node);

#endif
