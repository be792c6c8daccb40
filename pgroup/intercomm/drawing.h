/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The letter to processes that were drawn, as ints: this head, the ranks of all
 * that were drawn, the packed members of the group that drew them, and to those who come
 * for others the packed members of the group that results. */
#ifndef RGI_DRAWING_H
#define RGI_DRAWING_H

#include <stdint.h>

/* NUMBER: of the operation, two ints. */
enum {
  RGI_LETTER_KIND,
  RGI_LETTER_TAG,
  RGI_LETTER_APART,
  RGI_LETTER_DRAWN,
  RGI_LETTER_NUMBER,
  RGI_LETTER_HEAD = RGI_LETTER_NUMBER + 2
};

/* Those who come for others wait for the word that all have the new group, from one of so
 * many of the members that drew them. */
#define RGI_CONFIRMERS 4

/* What that word is sent under. */
uint64_t rgi_confirmation(uint64_t number);

#endif
