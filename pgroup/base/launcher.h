/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * What the launcher's environment says of this process, before and without MPI. */
#ifndef RGI_BASE_LAUNCHER_H
#define RGI_BASE_LAUNCHER_H

/* How many ranks this process's node has; 0 if no launcher says so. */
int rgi_launcher_local_ranks(void);

#endif
