/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * The options --split, --spawn and --connect. */
#include <regroup/intercomm.h>
#include <string.h>

#include "check.h"

#define MOST 8

typedef struct {
  const char *arguments, *left; /* parted by blanks, without the program's name */
  rg_inter_kind kind;
  int n;
} parse_case;

static int cut(char *text, char *argv[]) {
  int n = 1;
  argv[0] = (char *)(uintptr_t) "program";
  for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
    argv[n++] = word;
  argv[n] = NULL;
  return n;
}

static void check_words(int argc, char *const argv[], const char *words) {
  char copy[200], *expected[MOST];
  strcpy(copy, words);
  int n = cut(copy, expected);
  RGT_INT(argc, n);
  for (int i = 0; i < n && i < argc; i++)
    RGT_STR(argv[i], expected[i]);
  RGT_PTR_NULL(argv[argc]);
}

static void test_good(void) {
  static const parse_case cases[] = {
      {"", "", RG_INTER_NONE, 0},
      {"--verbose file", "--verbose file", RG_INTER_NONE, 0},
      {"--split", "", RG_INTER_SPLIT, 0},
      {"--split=4 --option1 --option2", "--option1 --option2", RG_INTER_SPLIT, 4},
      {"--split 4", "4", RG_INTER_SPLIT, 0},
      {"-x --spawn=12 y", "-x y", RG_INTER_SPAWN, 12},
      {"a b --connect=1000000", "a b", RG_INTER_CONNECT, 1000000},
      {"--splitting=3 --spawned --con", "--splitting=3 --spawned --con", RG_INTER_NONE, 0},
      {"-split=3 split=3", "-split=3 split=3", RG_INTER_NONE, 0},
      {"--split=1 -- --spawn=2", "-- --spawn=2", RG_INTER_SPLIT, 1},
      {"-- --spawn=x --split", "-- --spawn=x --split", RG_INTER_NONE, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[200], *argv[MOST];
    rg_inter_options how = {sizeof how, RG_INTER_CONNECT, 77, NULL};
    strcpy(text, cases[i].arguments);
    int argc = cut(text, argv);
    RGT_OK(rg_inter_parse(&argc, argv, &how));
    RGT_INT(how.kind, cases[i].kind);
    RGT_INT(how.n, cases[i].n);
    RGT_TRUE(how.argv == argv);
    check_words(argc, argv, cases[i].left);
  }
}

static void test_bad(void) {
  static const char *const cases[] = {"--spawn",
                                      "--connect",
                                      "--split=",
                                      "--split=0",
                                      "--split=-1",
                                      "--spawn=+3",
                                      "--spawn=3x",
                                      "--spawn=x",
                                      "--connect=0",
                                      "--split=2147483648",
                                      "--spawn=2147483647",
                                      "--spawn=1000001",
                                      "--split --spawn=2",
                                      "--split=2 a --split=2",
                                      "--spawn=99999999999999999999",
                                      "--connect=1 --spawn=1"};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[200], *argv[MOST];
    rg_inter_options how = {sizeof how, RG_INTER_NONE, 77, NULL};
    strcpy(text, cases[i]);
    int argc = cut(text, argv);
    RGT_FAILS(rg_inter_parse(&argc, argv, &how), RG_ERR_ARG);
    RGT_INT(how.n, 77);
    check_words(argc, argv, cases[i]);
  }
}

static void test_null(void) {
  char *argv[] = {NULL};
  int argc = 0;
  rg_inter_options how = {.size = sizeof how};
  RGT_FAILS(rg_inter_parse(NULL, argv, &how), RG_ERR_ARG);
  RGT_FAILS(rg_inter_parse(&argc, NULL, &how), RG_ERR_ARG);
  RGT_FAILS(rg_inter_parse(&argc, argv, NULL), RG_ERR_ARG);
  RGT_OK(rg_inter_parse(&argc, argv, &how));
  RGT_INT(argc, 0);
}

static void test_names(void) {
  RGT_STR(rg_inter_kind_name(RG_INTER_NONE), "none");
  RGT_STR(rg_inter_kind_name(RG_INTER_SPLIT), "split");
  RGT_STR(rg_inter_kind_name(RG_INTER_SPAWN), "spawn");
  RGT_STR(rg_inter_kind_name(RG_INTER_CONNECT), "connect");
  RGT_PTR_NULL(rg_inter_kind_name((rg_inter_kind)4));
  RGT_TRUE(strstr(rg_inter_help(), "--split[=n]") && strstr(rg_inter_help(), "--spawn=n") &&
           strstr(rg_inter_help(), "--connect=n"));
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"good", test_good},
                                   {"bad", test_bad},
                                   {"null", test_null},
                                   {"names", test_names},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "inter_parse", tests);
}
