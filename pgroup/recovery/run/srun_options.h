/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * srun's command line: which of its words are options. */
#ifndef RGI_SRUN_OPTIONS_H
#define RGI_SRUN_OPTIONS_H

/* The value of the last option of these names before the program, or NULL. */
const char *run_srun_option(char **command, char character, const char *name);

/* Whether an option that has no value is there. */
int run_srun_flag(char **command, char character, const char *name);

/* A copy with these words before the program: of srun's options the last one counts. */
char **run_srun_add(char **command, char **words);

#endif
