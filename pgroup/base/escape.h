/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Characters of texts that programs give, in pictures (SVG) and in JSON. */
#ifndef RGI_ESCAPE_H
#define RGI_ESCAPE_H

#include <stdio.h>

/* Writes text with the characters that XML reserves escaped; a control character becomes a space,
 * and a byte that is no part of UTF-8 a replacement character. */
void rgi_escape_xml(FILE *f, const char *text);

/* Written in the place of a byte that begins no character. */
#define RGI_ESCAPE_REPLACEMENT "\xef\xbf\xbd"

/* Bytes of the character at the beginning of a text, 1 to 4; 0: it is none that XML and JSON may
 * have. */
int rgi_escape_utf8_length(const char *text);

#endif
