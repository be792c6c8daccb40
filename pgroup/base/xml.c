/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "base/xml.h"

#include "base/utf8.h"

/* One character; of a byte that begins none a replacement. Returns its bytes. */
static int put_character(FILE *f, const char *text) {
  int n = rgi_utf8_length(text);
  if (n == 0)
    fputs(RGI_UTF8_REPLACEMENT, f);
  else if ((unsigned char)*text < ' ')
    fputc(' ', f);
  else
    fwrite(text, 1, (size_t)n, f);
  return n ? n : 1;
}

void rgi_xml_text(FILE *f, const char *text) {
  for (int n; *text; text += n) {
    n = 1;
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
      n = put_character(f, text);
    }
  }
}
