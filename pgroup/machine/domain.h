/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The failure domain of this node, as RG_DOMAINS says: nodes of one domain may fail together (a
 * rack, a power supply, a switch). */
#ifndef RGI_DOMAIN_H
#define RGI_DOMAIN_H

#include <mpi.h>
#include <stdint.h>

/* Reads RG_DOMAINS anew for this host. RG_ERR_OPTION. */
int rgi_domain_load(void);

/* A hash of the domain's name; 0 if RG_DOMAINS is not set. */
uint64_t rgi_domain_own(void);

/* Every process of comm, if not all have the same domain: tells all processes that of each. */
int rgi_domain_share(MPI_Comm comm);
void rgi_domain_close(void);

/* The domain of a process, by its rank in that communicator: a hash of the domain's name; 0 if all
 * processes are in one domain. */
uint64_t rgi_domain_of(int rank);

/* The domain of a host as `domains` says, allocated. RG_ERR_OPTION, RG_ERR_NOMEM. */
int rgi_domain_find(const char *domains, const char *host, char **domain);

/* node: of each member, numbers from 0 to nodes - 1, of which any may occur; domain: of each
 * member, equal on a node. The members of a node are held by those of one node of the next domain
 * (of the next node, if there is one domain only), in the order of the lowest ranks, so that all
 * hold about as much. O(members + nodes log nodes). RG_ERR_NOMEM. */
int rgi_domain_holders(int members, const int node[], int nodes, const uint64_t domain[],
                       int holders[]);

#endif
