/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * A program in a locale with a decimal comma: numbers are read and written with a point.
 *
 * ranks: 1 2 */
#include <locale.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "machine/machine.h"
#include "runtime/tuning.h"

static char folder[RGT_PATH];
static rg_group world;

/* The locale is made here: few machines have it. 0: it cannot be made. */
static int use_comma(void) {
  char command[3 * RGT_PATH], text[8];
  rgt_temporary(folder);
  if (!mkdtemp(folder))
    return 0;
  snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null",
           folder);
  if (system(command) != 0)
    return 0;
  setenv("LOCPATH", folder, 1);
  if (!setlocale(LC_ALL, "de_DE.UTF-8"))
    return 0;
  snprintf(text, sizeof text, "%.1f", 0.5);
  return strcmp(text, "0,5") == 0;
}

/* A file of measured costs. */
static void tune(void) {
  char path[RGT_PATH + 8];
  snprintf(path, sizeof path, "%s/tuning", folder);
  FILE *f = fopen(path, "w");
  RGT_PTR_NOT_NULL(f);
  RGT_TRUE(f && fputs(RGI_TUNING_HEAD "\ninside.t_s = 0.25\n", f) >= 0);
  RGT_INT(f ? fclose(f) : 0, 0);
  setenv("RG_TUNING", path, 1);
}

static void test_options(void) {
  setenv("RG_STALL_REPORT", "2.5", 1);
  tune();
  RGT_OK(rg_init(MPI_COMM_WORLD, "timeout=60.5"));
  RGT_DBL(rgi_tuning_now()->inside.ts, 0.25, 0);
  RGT_OK(rg_group_world(&world));
  RGT_FAILS(rg_error_set(RG_ERR_USER, "%g", 0.5), RG_ERR_USER);
  RGT_STR(rg_error_detail(), "0.5");
}

static void test_policy(void) {
  rg_policy p = {.size = sizeof p};
  RGT_OK(rg_policy_parse("share-out:cost=0.5", &p));
  RGT_DBL(p.option[0], 0.5, 0);
  RGT_FAILS(rg_policy_parse("share-out:cost=0,5", &p), RG_ERR_ARG);
}

/* A machine from a file is the one that a program without the locale sees. */
static void test_machine(void) {
  rgi_machine machine[2];
  for (int i = 0; i < 2; i++) {
    RGT_TRUE(setlocale(LC_ALL, i ? "C" : "de_DE.UTF-8") != NULL);
    RGT_OK(rgi_machine_open(__func__, "tests/topology/lopsided.xml", &machine[i]));
  }
  RGT_TRUE(setlocale(LC_ALL, "de_DE.UTF-8") != NULL);
  RGT_TRUE(machine[0].fingerprint == machine[1].fingerprint);
  for (int i = 0; i < 2; i++)
    rgi_machine_close(&machine[i]);
}

/* Each format of a timeline, without a number that has a comma. */
static void test_timeline(void) {
  rg_timeline t;
  rg_timeline_words words = {.size = sizeof words, .seconds = 1.5};
  static char text[65536];
  RGT_OK(rg_timeline_create(&t));
  RGT_OK(rg_timeline_mark_at(t, &(rg_span){.kind = RG_SPAN_WORK, .size = 1}, 1.25));
  RGT_OK(rg_timeline_end(t, 2.5));
  RGT_OK(rg_timeline_gather(t, world, 1, 0));
  for (int format = RG_TIMELINE_SVG; format <= RG_TIMELINE_HTML && rgt_rank == 0; format++) {
    char path[RGT_PATH];
    rgt_temporary(path);
    close(mkstemp(path));
    RGT_OK(rg_timeline_write(t, path, (rg_timeline_format)format, &words));
    FILE *f = fopen(path, "r");
    text[f ? fread(text, 1, sizeof text - 1, f) : 0] = '\0';
    if (f)
      fclose(f);
    remove(path);
    RGT_TRUE(strstr(text, format == RG_TIMELINE_CHROME ? "1250000.000" : "1.50") != NULL);
    RGT_TRUE(strstr(text, "1,5") == NULL && strstr(text, "1250000,") == NULL);
  }
  RGT_OK(rg_timeline_free(&t));
  RGT_STR(localeconv()->decimal_point, ",");
}

static void test_end(void) {
  char command[RGT_PATH + 8];
  RGT_OK(rg_group_free(&world));
  RGT_OK(rg_finalize());
  snprintf(command, sizeof command, "rm -r %s", folder);
  RGT_INT(system(command), 0);
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"options", test_options}, {"policy", test_policy},
                                   {"machine", test_machine}, {"timeline", test_timeline},
                                   {"end", test_end},         {NULL, NULL}};
  if (!use_comma()) {
    printf("no locale with a decimal comma can be made here\n");
    return 77;
  }
  return rgt_main(argc, argv, "locale", tests);
}
