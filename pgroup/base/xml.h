/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Text in pictures that are written as SVG. */
#ifndef RGI_XML_H
#define RGI_XML_H

#include <stdio.h>

/* Writes text with the characters that XML reserves escaped; a control character becomes a space,
 * and a byte that is no part of UTF-8 a replacement character.
 */
void rgi_xml_text(FILE *f, const char *text);

#endif
