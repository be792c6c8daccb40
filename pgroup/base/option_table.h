/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table of options (options.def), and what the environment says of them. It needs nothing else
 * of the library: libregroup-polite.so and what runs before rg_init read options too. */
#ifndef RGI_OPTION_TABLE_H
#define RGI_OPTION_TABLE_H

typedef enum {
#define RGI_OPTION(id, name, kind, builtin, values, meaning) RGI_OPT_##id,
#include "base/options.def"
#undef RGI_OPTION
  RGI_OPT_COUNT
} rgi_options_id;

/* Two libraries that a program may load at once hold these. */
#define RGI_OPTION_HIDDEN __attribute__((visibility("hidden")))

typedef enum {
  RGI_OPTION_CHOICE,
  RGI_OPTION_NUMBER,
  RGI_OPTION_COUNT,
  RGI_OPTION_TEXT
} rgi_option_kind;

typedef struct {
  const char *name;
  rgi_option_kind kind;
  const char *builtin, *values, *meaning;
} rgi_option_row;

extern RGI_OPTION_HIDDEN const rgi_option_row rgi_option_table[RGI_OPT_COUNT];

/* What the environment says now, or the built-in value. rg_init has looked at it. */
RGI_OPTION_HIDDEN const char *rgi_option_text(rgi_options_id id);

/* The number of this word among a choice's, or -1. */
RGI_OPTION_HIDDEN int rgi_option_word(rgi_options_id id, const char *text);

#endif
