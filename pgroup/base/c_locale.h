/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Numbers are read and written as in C's locale, whatever the program has set: with a point. */
#ifndef RGI_C_LOCALE_H
#define RGI_C_LOCALE_H

#include <locale.h>

/* strtod in C's locale. */
double rgi_c_locale_number(const char *text, char **end);

/* From here on this thread prints in C's locale; until rgi_c_locale_leave, which gets the result.
 */
locale_t rgi_c_locale_enter(void);
void rgi_c_locale_leave(locale_t before);

#endif
