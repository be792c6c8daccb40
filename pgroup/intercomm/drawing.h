/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The letter to processes that were drawn, as ints: this head, the ranks of all
 * that were drawn, the packed members of the group that drew them. */
#ifndef RGI_DRAWING_H
#define RGI_DRAWING_H

enum { RGI_LETTER_KIND, RGI_LETTER_TAG, RGI_LETTER_DRAWN, RGI_LETTER_HEAD };

#endif
