/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The nodes of a job under Slurm: which are lost, as the daemons tell on standard error, and on
 * which the job is to start again. A node that was lost once is not used again. */
#ifndef RGI_NODES_H
#define RGI_NODES_H

#define RUN_LINE 4096 /* bytes of a line; the rest is not looked at */

/* Looks at a line. 1: it tells that a node has no part in the job any more, although it lives. */
int run_nodes_hear(const char *line);

/* A node is lost, with these ranks ("0-3,8"). */
void run_nodes_lose(const char *name, const char *ranks);

/* Whether a node was lost in this start of the job. */
int run_nodes_lost(void);

/* Whether a node has ended of which no other has told that it is lost. */
int run_nodes_ended(void);

/* Whether all these ranks ("0-3,8") were on nodes that were lost in this start of the job. */
int run_nodes_are_lost(const char *ranks);

/* run_srun.next */
int run_nodes_leave_out(char ***command);

#endif
