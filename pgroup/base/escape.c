/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "base/escape.h"

/* One character; of a byte that begins none a replacement. Returns its bytes. */
static int put_character(FILE *f, const char *text) {
  int n = rgi_escape_utf8_length(text);
  if (n == 0)
    fputs(RGI_ESCAPE_REPLACEMENT, f);
  else if ((unsigned char)*text < ' ')
    fputc(' ', f);
  else
    fwrite(text, 1, (size_t)n, f);
  return n ? n : 1;
}

void rgi_escape_xml(FILE *f, const char *text) {
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

int rgi_escape_utf8_length(const char *text) {
  static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
  unsigned char first = (unsigned char)*text;
  int n = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 0;
  unsigned code = n == 1 ? first : first & (0x7fu >> n);
  if (n == 0 || first > 0xf7)
    return 0;
  for (int i = 1; i < n; i++) {
    if (((unsigned char)text[i] & 0xc0) != 0x80)
      return 0;
    code = code << 6 | ((unsigned char)text[i] & 0x3f);
  }
  int none = code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ||
             (code & 0xfffe) == 0xfffe;
  return none ? 0 : n;
}
