/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * MPI_COMM_SELF's attributes, which MPI_Finalize deletes first of all, the last one first. */
#ifndef RGI_FAULT_SELF_H
#define RGI_FAULT_SELF_H

/* In MPI_Finalize, where MPI's own does not run. */
void rgi_fault_self_delete(void);

#endif
