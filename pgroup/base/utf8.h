/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Characters of UTF-8, in texts that programs give. */
#ifndef RGI_UTF8_H
#define RGI_UTF8_H

/* Written in the place of a byte that begins no character. */
#define RGI_UTF8_REPLACEMENT "\xef\xbf\xbd"

/* Bytes of the character at the beginning of a text, 1 to 4; 0: it is none that XML and JSON may
 * have. */
int rgi_utf8_length(const char *text);

#endif
