/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What a daemon tells regroup-run (recovery/run/), which the launcher does not: lines on standard
 * error. */
#ifndef RGI_NEWS_H
#define RGI_NEWS_H

#include "noded/overlay.h"

/* Whether regroup-run has started this job. */
int rgi_news_are_wanted(void);

/* A node is lost. */
void rgi_news_loss(rgi_overlay *m, int node);

/* The job has ended well without so many nodes, or without so many processes. */
void rgi_news_end(const rgi_overlay *m, int lost_nodes, int deaths);

/* All ranks have come to the end of rg_finalize; where a node's host can be asked whether it lives.
 * Under srun only: Slurm may take minutes to see that a node is lost afterwards. */
void rgi_news_left(rgi_overlay *m, int node);

#endif
