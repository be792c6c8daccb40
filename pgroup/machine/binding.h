/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Pretended bindings: what RG_BIND says. */
#ifndef RGI_BINDING_H
#define RGI_BINDING_H

#include "machine/machine.h"

/* A process among those of its node. */
typedef struct {
  int index, count;
} rgi_binding_process;

/* The processors that the process pretends to be bound to; how: as RG_BIND. RG_ERR_OPTION. */
int rgi_binding_pretend(const char *call, const rgi_machine *machine, const char *how,
                        rgi_binding_process p, hwloc_bitmap_t set);

#endif
