/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * At which addresses a node daemon listens and is dialled. */
#ifndef RGI_ADDRESSES_H
#define RGI_ADDRESSES_H

#include <ifaddrs.h>
#include <stdint.h>

#include "noded/wire/overlay.h"

/* A number that is the same for processes that share a machine and its network, and for no others;
 * 0: not known. */
int64_t rgi_addresses_machine(void);

/* The addresses at which a node's daemon listens, in network order; returns how many. named: the
 * value of UCX_NET_DEVICES, or NULL: if devices of it have addresses these only. Else the machine's
 * own address if all nodes are on one machine; else those of all devices but that one; if there are
 * none, that one. */
int rgi_addresses_offer(const struct ifaddrs *devices, const char *named, int one_machine,
                        uint32_t address[RGI_OVERLAY_ADDRESSES]);

/* Which of a node's addresses this machine dials: those that it has not got itself, unless there
 * are none. Moves them to the begin and returns how many. */
int rgi_addresses_keep(const struct ifaddrs *devices, uint32_t address[], int n);

#endif
