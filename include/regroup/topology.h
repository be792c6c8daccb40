/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Hardware levels: communicators, or groups, of the processes that share a resource.
 *
 * A process has a place in the machine: its node, and on this node the resources that
 * contain all processors to which the process is bound, from the whole machine down to
 * a hardware thread. Processes with a common resource form a level. The next level
 * below a communicator is, for each of its processes, the largest set of its processes
 * that share a resource and are fewer than all. Consequences:
 *
 *  - A level is always a strict subset of the level above. Resources that are shared
 *    by exactly the same processes form one level, which is named after the outermost.
 *  - The levels made by one call share no process, and their types may differ where
 *    the hardware differs.
 *  - A process without a smaller resource, shared or its own, gets MPI_COMM_NULL. A
 *    process that is not bound has no core or cache of its own: it gets MPI_COMM_NULL
 *    where the others get a communicator, unless one such resource contains all the
 *    processors that it may use.
 *
 * The types of resources have hwloc's names: Machine (a node), Package, Die, NUMANode,
 * L5Cache to L1Cache, Core, PU (a hardware thread), Group. Several nodes together are
 * the "Cluster".
 *
 * The calls concern the communicator that they are given: they are collective over it,
 * communicate on it (collective operations only, no tags), and store the places of its
 * processes on it as an attribute, which MPI_Comm_dup copies. The first call on a
 * communicator exchanges the places: MPI_Comm_split_type into nodes, a reduction, and
 * an allgather inside each node. On a communicator that these calls have made the
 * places are known already. If a process changes its binding later, communicators with
 * known places still use its old place. The caller owns a new communicator and frees it
 * with MPI_Comm_free; it inherits comm's error handler. The library need not be
 * initialised (rg_init).
 *
 * The environment may define pretended hardware, for experiments and tests:
 *
 *   RG_TOPOLOGY  a machine: a file that `lstopo FILE.xml` has written, or hwloc's
 *                synthetic description, as "pack:2 [numa] l3:1 core:4 pu:1".
 *                HWLOC_XMLFILE and HWLOC_SYNTHETIC have the same effect.
 *   RG_BIND      the pretended bindings of the processes of a node: compact (the i-th
 *                process to the i-th hardware thread), scatter (as far from each other
 *                as possible), none, or a list of hardware threads for each process in
 *                turn, as "0,1;2-3;none". Numbers are logical, in the order of the
 *                machine; at its end the list starts again.
 *
 * Invalid ones are an error of rg_init. The machine is loaded once for each process, by rg_init
 * where one of the two is set, else at the first call. On a pretended
 * machine no process is bound unless RG_BIND is set. If processes of a node see
 * different machines the node is not divided further.
 *
 * Every function may return RG_ERR_COMM (MPI_COMM_NULL, or an inter-communicator),
 * RG_ERR_ARG (an output is NULL), RG_ERR_NOMEM and RG_ERR_MPI. Collective functions may
 * return RG_ERR_OPTION (RG_TOPOLOGY or RG_BIND is invalid), RG_ERR_SYSTEM (hwloc fails)
 * and RG_ERR_LIMIT (no room for another communicator). Only other errors are named
 * below. All processes of comm return the error of one process.
 *
 * The calls on groups at the end of this file make the same levels of groups, and make no
 * communicator. */
#ifndef REGROUP_TOPOLOGY_H
#define REGROUP_TOPOLOGY_H

#include <mpi.h>

#include <regroup/error.h>
#include <regroup/group.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Filters: the types of resources that count. The caller may add them. */
enum rg_level {
  RG_LEVEL_NETWORK = 1, /* nodes: Machine */
  RG_LEVEL_MEMORY = 2,  /* NUMANode, caches of every depth, Group */
  RG_LEVEL_COMPUTE = 4, /* Package, Die, Core, PU, Group */
  RG_LEVEL_ALL = 7
};

/* Makes the next level below comm that passes the filter; MPI_COMM_NULL ends the
 * descent. Also without RG_LEVEL_NETWORK every new communicator is within a node, since
 * the other types of resources never span nodes.
 *
 * Callers: every process of comm, with the same filter. key determines the order of the
 * processes in newcomm; processes with equal keys are ordered as in comm.
 * Cost: an allgather of 20 bytes for each process, an MPI_Comm_split unless no process
 * has a level below, and a reduction.
 * Errors: RG_ERR_ARG (filter); RG_ERR_MISMATCH (filters differ, or processes
 * made different calls). */
RG_API int rg_comm_split_topology(MPI_Comm comm, int filter, int key, MPI_Comm *newcomm);

/* Makes the communicator of those with whom the caller shares a resource of a type, also where
 * these are all processes of comm; of several that contain one another it is the smallest. type is
 * hwloc's name for it, in any case ("Package", "NUMANode", "L3Cache", "core"; "Machine" is a node).
 * A process that is bound to processors of several such resources, or of none, gets MPI_COMM_NULL,
 * and a line at the level info of RG_LOG says so. The new communicator is a level, as for
 * rg_comm_split_topology.
 *
 * Callers: every process of comm, with the same type; key as there.
 * Cost: as there.
 * Errors: RG_ERR_ARG (type is NULL or no name of hwloc's, or of a device: the text lists the types
 * of this machine); RG_ERR_MISMATCH (types differ, or processes made different calls). */
RG_API int rg_comm_split_level(MPI_Comm comm, const char *type, int key, MPI_Comm *newcomm);

/* The same as rg_comm_split_topology, ordered as in comm, and in addition a communicator of the
 * roots, which are the processes with rank 0 in the communicators made, in the order of their ranks
 * in comm. Every other process gets MPI_COMM_NULL for rootscomm.
 *
 * Callers: every process of comm, with the same info. info: MPI_INFO_NULL for all levels,
 * or an info object whose key "rg_level_filter" has words from network, memory, compute,
 * all, with commas between them.
 * Cost: one more MPI_Comm_split.
 * Errors: RG_ERR_ARG (a word of the filter); RG_ERR_MISMATCH. */
RG_API int rg_comm_hsplit_with_roots(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
                                     MPI_Comm *rootscomm);

/* Makes all levels at once: comms[0] is the next level below comm, comms[i + 1] the next
 * one below comms[i], as far as the caller has such levels; *levels is their number, at
 * most max. Each is a communicator like those above, in the order of comm, and the caller
 * frees each one. Processes may get different numbers of levels.
 *
 * Callers: every process of comm, with the same filter. roots: NULL on every process, or
 * room for max communicators: roots[i] is the communicator of the roots of comms[i] and
 * its siblings, or MPI_COMM_NULL if the caller is not a root. RG_LEVELS_MOST is
 * sufficient on any machine.
 * Cost: as rg_comm_split_topology for the first level; an MPI_Comm_split over the level
 * above for each further one, and the same number for roots.
 * Errors: RG_ERR_ARG (filter; max < 1; comms is NULL); RG_ERR_MISMATCH. After an
 * error none of the communicators exists. */
#define RG_LEVELS_MOST 32
RG_API int rg_comm_hierarchy(MPI_Comm comm, int filter, int max, MPI_Comm comms[], MPI_Comm roots[],
                             int *levels);

/* Describes a communicator that one of the calls above has made as a level, or a
 * duplicate of it: the number of its siblings including itself (the communicators that the
 * same call made from the same communicator); its index among them, ordered by their lowest
 * ranks in that communicator; and its type ("Package"). Any of the pointers may be NULL.
 * The string belongs to the library and stays valid.
 * Local; any thread. Errors: RG_ERR_COMM (comm is not a level, but a communicator of the
 * application or of roots). */
RG_API int rg_comm_hlevel_info(MPI_Comm comm, int *num_comms, int *index, const char **type);

/* Returns the same as a new info object, which the caller frees, with the keys
 * rg_hlevel_num, rg_hlevel_index, rg_hlevel_type, and rg_hlevel_types: all types of
 * resources that passed the filter and are shared by exactly these processes, outermost
 * first ("Package,NUMANode,L3Cache"). MPI_Comm_get_info cannot return them, since MPICH
 * drops keys that it does not know. Local. Errors: RG_ERR_COMM. */
RG_API int rg_comm_hlevel_mpi_info(MPI_Comm comm, MPI_Info *info);

/* The type of the lowest resource that contains the processes ranks[0..nranks-1] of comm:
 * "Core", "L2Cache", ..., "Machine", or "Cluster" if they are on several nodes; of
 * resources with the same processors the innermost. "Unknown" if the caller is not in its
 * list. All types of resources count, whether or not comm has such a level.
 *
 * Callers: every process of comm, each with its own list. If the places are known (see
 * above) the call is local and sends no message; then any part of the processes may call.
 * Errors: RG_ERR_RANK (out of range); RG_ERR_ARG (nranks < 0). Other processes do not
 * return these two errors. */
RG_API int rg_comm_min_hlevel(MPI_Comm comm, int nranks, const int ranks[], const char **type);

/* --- groups ------------------------------------------------------------------ *
 *
 * The levels, filters, types and orders are those of the calls above. No communicator is made,
 * and a level is a group like any other: the caller frees it. NULL takes the place of
 * MPI_COMM_NULL. The first call on a group exchanges the places of its members: a reduction over
 * g, and an allgather of 272 bytes for each member among those of a node. A group's copies
 * (rg_group_dup) and the levels below it know the places. These calls need rg_init.
 *
 * All members call, with the same filter; they are collective operations on g. Every function may
 * return RG_ERR_GROUP, RG_ERR_ARG and RG_ERR_NOMEM, and those that communicate also what a
 * collective operation returns (collectives.h), RG_ERR_OPTION and RG_ERR_SYSTEM. All members
 * return the error of one, except RG_ERR_NOMEM while the groups are made. */

/* Makes the next level below g that passes the filter; NULL ends the descent. key determines the
 * order of the members; those with equal keys are ordered as in g.
 * Cost: an allgather of 20 bytes for each member; no message for the group itself.
 * Errors: RG_ERR_ARG (filter); RG_ERR_MISMATCH (filters differ, or members made different
 * calls). */
RG_API int rg_group_split_topology(rg_group g, int filter, int key, rg_group *part);

/* Makes the group of those with whom the caller shares a resource of a type, as rg_comm_split_level
 * does; NULL where the caller is bound to several such resources, or to none.
 * Cost: as rg_group_split_topology.
 * Errors: RG_ERR_ARG (type); RG_ERR_MISMATCH. */
RG_API int rg_group_split_level(rg_group g, const char *type, int key, rg_group *part);

/* Makes all levels at once, as rg_comm_hierarchy does: parts[i + 1] is the next level below
 * parts[i]; roots[i] is the group of the roots of parts[i] and its siblings, or NULL if the caller
 * is not a root. roots may be NULL (on every member). Both have room for max groups.
 * Cost: as rg_group_split_topology, for all levels together.
 * Errors: RG_ERR_ARG (filter; max < 1; parts is NULL); RG_ERR_MISMATCH. After an error none of the
 * groups exists. */
RG_API int rg_group_hierarchy(rg_group g, int filter, int max, rg_group parts[], rg_group roots[],
                              int *levels);

/* Describes a group that one of the two calls above has made as a level, or a copy of it, as
 * rg_comm_hlevel_info does: the number of its siblings including itself, its index among them, and
 * its type. Any of the pointers may be NULL. Local; any thread.
 * Errors: RG_ERR_GROUP (g is not a level). */
RG_API int rg_group_hlevel_info(rg_group g, int *num_groups, int *index, const char **type);

/* The type of the lowest resource that contains the members ranks[0..nranks-1] of g, as
 * rg_comm_min_hlevel. Callers: every member, each with its own list. If the places are known the
 * call is local; then any part of the members may call.
 * Errors: RG_ERR_RANK (out of range); RG_ERR_ARG (nranks < 0). Other members do not return these
 * two errors. */
RG_API int rg_group_min_hlevel(rg_group g, int nranks, const int ranks[], const char **type);

#ifdef __cplusplus
}
#endif
#endif
