/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * Failure domains of hosts, and the choice of holders by nodes and domains. */
#include <mpi.h>
#include <regroup.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/domain.h"
#include "tests/check/check.h"

enum { MOST = 4000 };

static int node[MOST], holders[MOST];
static uint64_t domain[MOST];

/* Every member is held on another node and, where there is another one, in another domain; the
 * most loaded member holds `most` others. */
static void check_choice(int n, int several, int most) {
  int *held = calloc((size_t)n, sizeof *held), worst = 0;
  RGT_OK(rgi_domain_holders(n, node, MOST, domain, holders));
  for (int i = 0; i < n; i++) {
    RGT_TRUE(holders[i] >= 0 && holders[i] < n);
    RGT_TRUE(node[holders[i]] != node[i]);
    RGT_TRUE(!several || domain[holders[i]] != domain[i]);
    held[holders[i]]++;
    worst = held[holders[i]] > worst ? held[holders[i]] : worst;
  }
  RGT_INT(worst, most);
  free(held);
}

static void test_even(void) {
  for (int each = 1; each <= 8; each *= 2) { /* members of a node */
    for (int i = 0; i < 64; i++) {
      node[i] = i / each * each; /* block */
      domain[i] = 0;
    }
    check_choice(64, 0, 1);
    RGT_INT(holders[0], each);
    RGT_INT(holders[64 - each], 0);
    for (int i = 0; i < 64; i++)
      node[i] = i % (64 / each); /* cyclic */
    check_choice(64, 0, 1);
    RGT_INT(holders[0], 1);
  }
}

/* Two racks of four nodes with two members each: no node holds more than another. */
static void test_domains(void) {
  for (int i = 0; i < 16; i++) {
    node[i] = i / 2 * 2;
    domain[i] = i < 8 ? 77 : 5;
  }
  check_choice(16, 1, 1);
  for (int i = 0; i < 16; i++)
    RGT_INT(holders[i], (i + 8) % 16);
  for (int i = 0; i < 16; i++)
    domain[i] = i / 2 % 2 ? 77 : 5; /* in turn */
  check_choice(16, 1, 1);
  for (int i = 0; i < 16; i++)
    domain[i] = i < 12 ? 77 : 5; /* three nodes and one */
  check_choice(16, 1, 3);
  for (int i = 0; i < 16; i++)
    domain[i] = 9; /* one domain: by nodes */
  check_choice(16, 0, 1);
}

static int below(int n) {
  return (int)(random() % n);
}

static void test_random(void) {
  srandom((unsigned)rgt_seed());
  for (int round = 0; round < 200; round++) {
    int n = 2 + below(60), nodes = 2 + below(n - 1);
    int domains = 1 + below(nodes), several = 0, apart = 0;
    for (int i = 0; i < n; i++) {
      node[i] = below(nodes);
      domain[i] = (uint64_t)(node[i] * 7 % domains);
      several |= domain[i] != domain[0];
      apart |= node[i] != node[0];
    }
    if (!apart)
      continue;
    RGT_OK(rgi_domain_holders(n, node, MOST, domain, holders));
    for (int i = 0; i < n; i++)
      RGT_TRUE(several ? domain[holders[i]] != domain[i] : node[holders[i]] != node[i]);
  }
}

/* --- domains of hosts ---------------------------------------------------------------------- */

static void expect_domain(const char *domains, const char *host, const char *expected) {
  char *found = NULL;
  RGT_OK(rgi_domain_find(domains, host, &found));
  RGT_STR(found, expected);
  free(found);
}

static void expect_refused(const char *domains, const char *host, const char *word) {
  char *found = NULL;
  RGT_FAILS(rgi_domain_find(domains, host, &found), RG_ERR_OPTION);
  RGT_PTR_NULL(found);
  if (!strstr(rg_error_detail(), word))
    RGT_STR(rg_error_detail(), word);
}

static void test_patterns(void) {
  expect_domain("(r[0-9]+)n[0-9]+", "r12n7", "r12");
  expect_domain("(r[0-9]+)n[0-9]+", "r12n7.example.org", "r12");
  expect_domain("^node0*([1-9])", "node0042", "4");
  expect_refused("(r[0-9]+)n[0-9]+", "login", "login");
  expect_refused("r[0-9]+", "r12", "group");
  expect_refused("(r[0-9]+", "r12", "RG_DOMAINS=");
  expect_refused("(x*)", "r12", "r12");
}

static void write_file(const char *path, const char *text) {
  FILE *f = fopen(path, "w");
  RGT_TRUE(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void test_files(void) {
  const char *folder = getenv("TMPDIR");
  char path[400];
  snprintf(path, sizeof path, "%s/domains-%d", folder ? folder : "/tmp", (int)getpid());
  expect_refused(path, "a", "cannot be opened");
  write_file(path, "# racks\n\na one\nb\ttwo # the other\nc.example.org three\n");
  expect_domain(path, "a", "one");
  expect_domain(path, "a.example.org", "one");
  expect_domain(path, "b", "two");
  expect_domain(path, "c", "three");
  expect_domain(path, "c.example.org", "three");
  expect_refused(path, "c.example.com", "not in it");
  expect_refused(path, "ab", "not in it");
  write_file(path, "a one\nb\n");
  expect_refused(path, "a", "line 2");
  write_file(path, "a one\nb two three\n");
  expect_refused(path, "a", "line 2");
  write_file(path, "a one\na two\n");
  expect_refused(path, "a", "again");
  unlink(path);
}

/* A malformed value is an error of rg_init, and the library is not started. */
static void test_option(void) {
  int on = 1;
  setenv("RG_DOMAINS", "(", 1);
  RGT_FAILS(rg_init(MPI_COMM_WORLD, NULL), RG_ERR_OPTION);
  RGT_OK(rg_initialized(&on));
  RGT_INT(on, 0);
  setenv("RG_DOMAINS", "(.*)", 1);
  RGT_OK(rg_init(MPI_COMM_WORLD, NULL));
  RGT_OK(rg_finalize());
  unsetenv("RG_DOMAINS");
}

int main(int argc, char **argv) {
  static const rgt_test tests[] = {{"even", test_even},
                                   {"domains", test_domains},
                                   {"random", test_random},
                                   {"patterns", test_patterns},
                                   {"files", test_files},
                                   {"option", test_option},
                                   {NULL, NULL}};
  return rgt_main(argc, argv, "holders", tests);
}
