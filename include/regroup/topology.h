/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Hardware levels: communicators of the processes that share a resource.
 *
 * A process has a place in the machine: its node, and there the resources that
 * contain every processor it is bound to, from the whole machine down to a
 * hardware thread. Processes with a resource in common form a level. The next
 * level below a communicator is, for each of its processes, the largest set of
 * its processes that share a resource and are fewer than all. So
 *
 *  - a level is always a strict subset of the one above; resources that are
 *    shared by exactly the same processes make one level together, named after
 *    the outermost;
 *  - the levels made by one call share no process, and their kinds may differ
 *    where the hardware does;
 *  - a process that has nothing smaller to share, not even with itself, gets
 *    MPI_COMM_NULL. One that is not bound has no core or cache of its own: it
 *    stays behind where the others go on down, unless all the processors it may
 *    use lie in one of them.
 *
 * Kinds of resources ("types") are named as hwloc names them: Machine (a node),
 * Package, Die, NUMANode, L5Cache to L1Cache, Core, PU (a hardware thread),
 * Group. Several nodes together are the "Cluster".
 *
 * The calls are about the communicator that they are given: they are collective
 * over it, communicate on it (collective operations only, no tags), and keep the
 * places of its processes on it as an attribute, which MPI_Comm_dup copies. The
 * first call on a communicator exchanges the places: MPI_Comm_split_type into
 * nodes, a reduction, and an allgather inside each node. On a communicator that
 * these calls have made they are known already. A process that changes its
 * binding later is looked for at its old place on communicators that know it. A
 * new communicator is the caller's, to be freed with MPI_Comm_free, and inherits
 * comm's error handler. The library need not be initialised (rg_init).
 *
 * Pretended hardware, for trials and tests, by the environment:
 *
 *   RG_TOPOLOGY  a machine: a file as `lstopo FILE.xml` writes it, or hwloc's
 *                synthetic description, as "pack:2 [numa] l3:1 core:4 pu:1".
 *                HWLOC_XMLFILE and HWLOC_SYNTHETIC do as well.
 *   RG_BIND      where the processes of a node are bound, or rather pretend to
 *                be: compact (the i-th process to the i-th hardware thread),
 *                scatter (as far from each other as possible), none, or a list
 *                of hardware threads for each process in turn, as "0,1;2-3;none".
 *                Numbers are logical, in the order of the machine; a list that
 *                ends starts again.
 *
 * The machine is loaded once for each process, at the first call. On a pretended
 * machine nobody is bound unless RG_BIND says so. Where processes of a node see
 * different machines the node is not divided further.
 *
 * Every function may return RG_ERR_COMM (MPI_COMM_NULL, or an
 * inter-communicator), RG_ERR_ARG (an output is NULL), RG_ERR_NOMEM and
 * RG_ERR_MPI, and those that are collective RG_ERR_OPTION (RG_TOPOLOGY or RG_BIND
 * cannot be understood), RG_ERR_SYSTEM (hwloc fails) and RG_ERR_LIMIT (no room
 * for another communicator); only other errors are named below. An error of one
 * process is told to all of comm. */
#ifndef REGROUP_TOPOLOGY_H
#define REGROUP_TOPOLOGY_H

#include <mpi.h>

#include <regroup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Filters: which kinds of resources count. They may be added up. */
enum {
  RG_LEVEL_NETWORK = 1, /* nodes: Machine */
  RG_LEVEL_MEMORY = 2,  /* NUMANode, caches of every depth, Group */
  RG_LEVEL_COMPUTE = 4, /* Package, Die, Core, PU, Group */
  RG_LEVEL_ALL = 7
};

/* The next level below comm that passes the filter; MPI_COMM_NULL ends the
 * descent. Only communicators within a node are made without RG_LEVEL_NETWORK
 * too: the other kinds of resources never span nodes.
 *
 * Who calls: every process of comm, with the same filter. key: processes are
 * ordered by it in newcomm, equal ones as in comm.
 * Cost: an allgather of 20 bytes for each process, an MPI_Comm_split unless
 * nobody has a level below, and a reduction.
 * Errors: RG_ERR_ARG (filter); RG_ERR_MISMATCH (filters differ, or processes
 * made different calls). */
RG_API int rg_comm_split_topology(MPI_Comm comm, int filter, int key, MPI_Comm *newcomm);

/* The same, ordered as in comm, and a communicator of the roots: rank 0 of each
 * communicator made, in the order of their ranks in comm. Everybody else gets
 * MPI_COMM_NULL for rootscomm.
 *
 * info: MPI_INFO_NULL for all levels, or its key "rg_level_filter" holds words
 * from network, memory, compute, all, with commas between them.
 * Cost: one more MPI_Comm_split.
 * Errors: RG_ERR_ARG (a word of the filter); RG_ERR_MISMATCH. */
RG_API int rg_comm_hsplit_with_roots(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
                                     MPI_Comm *rootscomm);

/* The whole descent at once: comms[0] is the next level below comm, comms[i + 1]
 * the next below comms[i], as far as the caller has any, *levels of them, at most
 * max. Each is in the order of comm and a communicator like those above, to be
 * freed by itself. Processes may get different numbers of levels.
 *
 * roots: NULL on every process, or room for max communicators: roots[i] is that
 * of the roots of what was made together with comms[i], or MPI_COMM_NULL where
 * the caller is none. RG_LEVELS_MOST is room enough on any machine.
 * Cost: as rg_comm_split_topology for the first level; an MPI_Comm_split over
 * the level above for each further one, and as many again for roots.
 * Errors: RG_ERR_ARG (filter; max < 1; comms is NULL); RG_ERR_MISMATCH. After an
 * error none of the communicators exists. */
#define RG_LEVELS_MOST 32
RG_API int rg_comm_hierarchy(MPI_Comm comm, int filter, int max, MPI_Comm comms[], MPI_Comm roots[],
                             int *levels);

/* About a communicator that one of the calls above has made as a level, or a
 * duplicate of it: how many its siblings are, itself included (what the same
 * call made out of the same communicator); its index among them, by their lowest
 * ranks in that communicator; its type ("Package"). Any of the pointers may be
 * NULL. The text belongs to the library for good.
 * Local; any thread. Errors: RG_ERR_COMM (it is no level: a communicator of the
 * application or of roots). */
RG_API int rg_comm_hlevel_info(MPI_Comm comm, int *num_comms, int *index, const char **type);

/* The same as a new info object, which the caller frees: rg_hlevel_num,
 * rg_hlevel_index, rg_hlevel_type, and rg_hlevel_types, all kinds of resources
 * that passed the filter and are shared by just these processes, outermost
 * first ("Package,NUMANode,L3Cache"). MPI_Comm_get_info cannot give them: MPICH
 * drops keys that it does not know. Local. Errors as above. */
RG_API int rg_comm_hlevel_mpi_info(MPI_Comm comm, MPI_Info *info);

/* The type of the lowest resource that contains the processes ranks[0..nranks-1]
 * of comm: "Core", "L2Cache", ..., "Machine", or "Cluster" if they are on several
 * nodes; of resources with the same processors the innermost. "Unknown" if the
 * caller is not in its list. All kinds of resources count, whether comm has such
 * a level or not.
 *
 * Who calls: every process of comm, each with a list of its own. Local and
 * without messages if the places are known (see above), so that then a part of
 * the processes may call.
 * Errors: RG_ERR_RANK (out of range); RG_ERR_ARG (nranks < 0). These two are not
 * told to the others. */
RG_API int rg_comm_min_hlevel(MPI_Comm comm, int nranks, const int ranks[], const char **type);

#ifdef __cplusplus
}
#endif
#endif
