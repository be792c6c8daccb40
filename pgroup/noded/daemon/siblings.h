/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The other processes that this guard's launcher has started on this node, as /proc shows them:
 * until rg_init nothing else is known of them. Runs in guards. */
#ifndef RGI_SIBLINGS_H
#define RGI_SIBLINGS_H

/* Whether another of these processes lives: a guard does as long as its rank does. */
int rgi_siblings_live(void);

/* Whether the job has no processes on other nodes, as far as the launcher tells. */
int rgi_siblings_are_all(void);

enum { RGI_SIBLINGS_NONE = -1, RGI_SIBLINGS_SOME = -2 };

/* A rank of this node that has ended without having had a guard; SOME: it is not known which; NONE:
 * there is none, or the launcher does not tell (Slurm). To be called again after a while: a process
 * that vanishes between two calls had a guard if one of them saw it. */
int rgi_siblings_unstarted(void);

/* A node all of whose processes have ended, as the launcher numbers its nodes from 0; -1: there is
 * none, or it is not known: that is seen on the node where MPICH's mpiexec runs. */
int rgi_siblings_ended_node(void);

#endif
