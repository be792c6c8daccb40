/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "base/xml.h"

void rgi_xml_text(FILE *f, const char *text) {
  for (; *text; text++)
    switch (*text) {
    case '&':
      fputs("&amp;", f);
      break;
    case '<':
      fputs("&lt;", f);
      break;
    case '>':
      fputs("&gt;", f);
      break;
    default:
      fputc((unsigned char)*text < ' ' ? ' ' : *text, f);
    }
}
