/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The text: for each command how many processes and how many arguments, then the arguments, all as
 * words with a zero at the end. */
#include "mpi/fault/fault_order.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "mpi/intercept.h"

/* --- packing ---------------------------------------------------------------------------------- */

static int is_this_program(const char *command) {
  struct stat own, other;
  if (!strchr(command, '/'))
    return strcmp(command, program_invocation_short_name) == 0;
  return stat("/proc/self/exe", &own) == 0 && stat(command, &other) == 0 &&
         own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

static int check_command(const char *call, const char *command, int most) {
  if (!command || most < 1)
    return rgi_error(RG_ERR_ARG, "%s: %d processes of %s: at least 1 of a program", call, most,
                     command ? command : "NULL");
  return is_this_program(command)
             ? RG_SUCCESS
             : rgi_error(RG_ERR_RESERVE,
                         "%s: %s is another program: the processes in reserve are of this one",
                         call, command);
}

static int count_words(char *const *argv) {
  int n = 0;
  while (argv && argv[n])
    n++;
  return n;
}

static void write_command(FILE *to, int most, char *const *argv) {
  int words = count_words(argv);
  fprintf(to, "%d%c%d%c", most, 0, words, 0);
  for (int i = 0; i < words; i++)
    fwrite(argv[i], 1, strlen(argv[i]) + 1, to);
}

int rgi_fault_order_pack(const char *call, const rgi_fault_order *order, int *n, char **text,
                         size_t *bytes) {
  long long all = 0;
  for (int i = 0; i < order->count; i++)
    all += order->most[i];
  *n = all < RGI_FAULT_ORDER_MOST ? (int)all : RGI_FAULT_ORDER_MOST;
  if (order->count < 1)
    return rgi_error(RG_ERR_ARG, "%s: %d commands", call, order->count);
  for (int i = 0; i < order->count; i++)
    RGI_TRY(check_command(call, order->commands[i], order->most[i]));
  FILE *to = open_memstream(text, bytes);
  for (int i = 0; to && i < order->count; i++)
    write_command(to, order->most[i], order->argvs ? order->argvs[i] : NULL);
  if (!to || fclose(to) != 0)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory for the arguments", call);
  return RG_SUCCESS;
}

/* --- on a spawned process --------------------------------------------------------------------- */

static int read_number(const char **at) {
  int number = atoi(*at);
  *at += strlen(*at) + 1;
  return number;
}

/* The arguments of the command that the process is of. */
static const char *find_command(const char *text, int number, int *appnum, int *words) {
  for (*appnum = 0;; ++*appnum) {
    int most = read_number(&text);
    *words = read_number(&text);
    if (number < most)
      return text;
    number -= most;
    for (int i = 0; i < *words; i++)
      text += strlen(text) + 1;
  }
}

/* Fortran's runtime has kept the arguments of main. */
static void tell_fortran(int argc, char **argv) {
  void (*set)(int, char **);
  *(void **)&set = dlsym(RTLD_DEFAULT, "_gfortran_set_args");
  if (set)
    set(argc, argv);
}

int rgi_fault_order_take(const char *text, int number, int *appnum) {
  int words;
  const char *at = find_command(text, number, appnum, &words);
  char **argv = calloc((size_t)words + 2, sizeof *argv); /* the program's from now on */
  if (!argv)
    return rgi_error(RG_ERR_NOMEM, "MPI_Init: no memory for %d arguments", words);
  argv[0] = program_invocation_name;
  for (int i = 1; i <= words; i++, at += strlen(at) + 1)
    if (!(argv[i] = strdup(at)))
      return rgi_error(RG_ERR_NOMEM, "MPI_Init: no memory for %d arguments", words);
  if (rgi_intercept_arguments.argc)
    *rgi_intercept_arguments.argc = words + 1;
  if (rgi_intercept_arguments.argv)
    *rgi_intercept_arguments.argv = argv;
  tell_fortran(words + 1, argv);
  return RG_SUCCESS;
}
