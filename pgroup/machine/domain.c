/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * RG_DOMAINS is a file, if it contains a "/", with lines "HOST DOMAIN"; otherwise it is a regular
 * expression (POSIX, extended) that matches the names of all hosts, whose first group is the
 * domain:
 * "(r[0-9]+)n[0-9]+". A host may be named with or without what follows its first dot. */
#include "machine/domain.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/option_table.h"
#include "progress/mpi_error.h"

static uint64_t own, *all; /* all: NULL if they are equal */

static int copy_domain(const char *name, size_t length, char **domain) {
  *domain = strndup(name, length);
  return *domain ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "RG_DOMAINS: no memory");
}

/* Whether the words name the same host. */
static int is_host(const char *word, const char *host) {
  size_t n = strcspn(host, ".");
  return !strcmp(word, host) ||
         (strcspn(word, ".") == n && !strncmp(word, host, n) && (!word[n] || !host[n]));
}

/* --- a file ------------------------------------------------------------------------------- */

/* One line; NULL in *domain if it is of another host, or a comment. */
static int read_line(const char *path, int number, char *line, const char *host, char **domain) {
  char *rest, *words[3];
  int n = 0;
  line[strcspn(line, "#\n")] = 0;
  for (char *w = strtok_r(line, " \t\r", &rest); w && n < 3; w = strtok_r(NULL, " \t\r", &rest))
    words[n++] = w;
  if (n == 1 || n == 3)
    return rgi_error(RG_ERR_OPTION, "RG_DOMAINS=%.200s: line %d is not \"HOST DOMAIN\"", path,
                     number);
  return n && is_host(words[0], host) ? copy_domain(words[1], strlen(words[1]), domain)
                                      : RG_SUCCESS;
}

/* The whole file is read, so that each fault in it is found on each host. */
static int read_lines(FILE *f, const char *path, const char *host, char **domain) {
  char *line = NULL;
  size_t room = 0;
  int error = RG_SUCCESS;
  for (int number = 1; !error && getline(&line, &room, f) >= 0; number++) {
    char *found = NULL;
    error = read_line(path, number, line, host, &found);
    if (found && *domain)
      error = rgi_error(RG_ERR_OPTION, "RG_DOMAINS=%.200s: line %d names host %.100s again", path,
                        number, host);
    if (found && !*domain)
      *domain = found;
    else
      free(found);
  }
  free(line);
  return error;
}

static int find_in_file(const char *path, const char *host, char **domain) {
  FILE *f = fopen(path, "r");
  if (!f)
    return rgi_error(RG_ERR_OPTION, "RG_DOMAINS=%.200s: it cannot be opened: %s", path,
                     strerror(errno));
  int error = read_lines(f, path, host, domain);
  if (!error && ferror(f))
    error = rgi_error(RG_ERR_OPTION, "RG_DOMAINS=%.200s: it cannot be read", path);
  fclose(f);
  if (!error && !*domain)
    error = rgi_error(RG_ERR_OPTION, "RG_DOMAINS=%.200s: host %.100s is not in it", path, host);
  return error;
}

/* --- a pattern ---------------------------------------------------------------------------- */

static int find_by_pattern(const char *pattern, const char *host, char **domain) {
  regex_t compiled;
  regmatch_t match[2];
  int error = regcomp(&compiled, pattern, REG_EXTENDED);
  if (error) {
    char text[100];
    regerror(error, &compiled, text, sizeof text);
    return rgi_error(RG_ERR_OPTION, "RG_DOMAINS=%.200s: %s", pattern, text);
  }
  if (compiled.re_nsub < 1)
    error = rgi_error(RG_ERR_OPTION,
                      "RG_DOMAINS=%.200s: no file (no \"/\" in it), and as a pattern it has no "
                      "(group) that is the domain",
                      pattern);
  else if (regexec(&compiled, host, 2, match, 0) || match[1].rm_so == match[1].rm_eo)
    error = rgi_error(RG_ERR_OPTION, "RG_DOMAINS=%.200s: the pattern has no domain for host %.100s",
                      pattern, host);
  else
    error = copy_domain(host + match[1].rm_so, (size_t)(match[1].rm_eo - match[1].rm_so), domain);
  regfree(&compiled);
  return error;
}

int rgi_domain_find(const char *domains, const char *host, char **domain) {
  char *found = NULL;
  int error = strchr(domains, '/') ? find_in_file(domains, host, &found)
                                   : find_by_pattern(domains, host, &found);
  if (error)
    free(found);
  else
    *domain = found;
  return error;
}

/* --- this host -------------------------------------------------------------------------------- */

/* FNV-1a of 64 bits; never 0. */
static uint64_t hash_name(const char *name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (; *name; name++)
    hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
  return hash | 1;
}

void rgi_domain_close(void) {
  free(all);
  all = NULL;
}

int rgi_domain_load(void) {
  const char *domains = rgi_option_text(RGI_OPT_DOMAINS);
  char host[256] = "", *domain;
  own = 0;
  rgi_domain_close();
  if (!*domains)
    return RG_SUCCESS;
  gethostname(host, sizeof host - 1);
  RGI_TRY(rgi_domain_find(domains, host, &domain));
  own = hash_name(domain);
  free(domain);
  return RG_SUCCESS;
}

uint64_t rgi_domain_own(void) {
  return own;
}

int rgi_domain_share(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  rgi_domain_close();
  all = malloc((size_t)size * sizeof *all);
  RGI_TRY(rgi_mpi_error_share(
      comm, "rg_init",
      all ? RG_SUCCESS : rgi_error(RG_ERR_NOMEM, "rg_init: no memory for %d processes", size)));
  RGI_TRY_MPI(MPI_Allgather(&own, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, comm));
  return RG_SUCCESS;
}

uint64_t rgi_domain_of(int rank) {
  return all ? all[rank] : 0;
}
