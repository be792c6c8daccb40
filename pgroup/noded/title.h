/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The name under which ps shows a guard. Runs in guards. */
#ifndef RGI_TITLE_H
#define RGI_TITLE_H

/* Makes the process's command line "NAME RANK" and its thread's name NAME, of at most 15
 * characters. Does nothing where the system does not say where the command line lies. */
void rgi_title_set(const char *name, const char *rank);

#endif
