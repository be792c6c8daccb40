/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The machine that the process runs on, and its own place there. */
#ifndef RGI_MACHINE_PROCESS_H
#define RGI_MACHINE_PROCESS_H

#include "machine/machine.h"

/* The place of this process, real or as RG_TOPOLOGY and RG_BIND say. Loads
 * the machine at the first call; any thread. place->rank is not set. */
int rgi_machine_my_place(const char *call, rgi_machine_place *place);

/* By each process alone, in rg_init: looks at RG_TOPOLOGY and RG_BIND anew. RG_ERR_OPTION, and the
 * errors of rgi_machine_open. */
int rgi_machine_check_options(const char *call);

/* Whether RG_TOPOLOGY says what the machine is. */
int rgi_machine_is_pretended(void);

/* Whether the machine may have more than one memory node; without loading it. */
int rgi_machine_has_memory_nodes(void);

/* Binds pages without memory to a memory node, as far as the system can; negative: to none. On a
 * pretended machine nothing is bound. Any thread. */
void rgi_machine_bind_memory(void *at, size_t bytes, int node);

/* Unloads the machine; the next call of rgi_machine_my_place loads it again. */
void rgi_machine_forget(void);

#endif
