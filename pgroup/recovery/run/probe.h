/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Whether the nodes live when all ranks have left: Slurm may take minutes to see that one is lost,
 * and the daemons have ended. */
#ifndef RGI_PROBE_H
#define RGI_PROBE_H

/* Looks at a line. 1: a daemon has told by it that all ranks have left, and where a node is. */
int run_probe_hear(const char *line);

/* In this start of the job. */
int run_probe_has_heard(void);

/* Called at least ten times a second. Nodes that do not answer are lost: run_nodes_lose. */
void run_probe_step(double now);

/* Before the next start of the job. */
void run_probe_forget(void);

#endif
