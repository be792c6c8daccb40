/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Starting the library with drawn options. */
#ifndef OPTIONS_H
#define OPTIONS_H

/* Callers: all ranks, while the library is not started. */
void options_run(void);

#endif
