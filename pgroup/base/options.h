/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Options: one table (options.def), read from the environment and rg_init. */
#ifndef RGI_OPTIONS_H
#define RGI_OPTIONS_H

#include <stddef.h>

#include "base/option_table.h"

/* Sets every option anew: its built-in value, then rg_init's string (may be NULL), then the
 * environment. RG_ERR_OPTION, with the first bad one in its text, leaves all as they were. */
int rgi_options_load(const char *string);

/* Loads from the environment if nothing has been loaded yet. Any thread. */
int rgi_options_ready(void);

/* The value: a choice's number, or a number. Call after one of the above. */
double rgi_options_value(rgi_options_id id);

/* A choice's number as an int. */
int rgi_options_choice(rgi_options_id id);

/* Whether an environment variable with this name (length characters of it) is an option. */
int rgi_options_known(const char *variable, size_t length);

#endif
