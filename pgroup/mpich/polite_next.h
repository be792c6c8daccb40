/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Functions of MPI's library and of its transport behind this library. */
#ifndef RGI_POLITE_NEXT_H
#define RGI_POLITE_NEXT_H

/* As dlsym(RTLD_NEXT, name), also where MPI's library was opened for its caller alone. */
__attribute__((visibility("hidden"))) void *rgi_polite_next(const char *name);

#endif
