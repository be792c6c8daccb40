/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Calls during which one process lacks memory: at its n-th allocation, or from that one on, for all
 * n and each process in turn. The program is linked with --wrap=NAME for the functions of
 * shortage_wraps.h, so only what the library itself allocates can fail: on the heap and in the
 * node's arena, slots with it. */
#ifndef RGT_SHORTAGE_H
#define RGT_SHORTAGE_H

#include <regroup.h>

/* Who gets RG_ERR_NOMEM: all members of the call or none; the process itself, if any. Or the
 * process itself, and the others an error: all of them (SHORTAGE_EACH); those that have not ended
 * their part (SHORTAGE_SOME); those that have not ended the collective, and then each member in the
 * next collective on shortage_group (SHORTAGE_GROUP). */
typedef enum {
  SHORTAGE_ALL,
  SHORTAGE_ONE,
  SHORTAGE_EACH,
  SHORTAGE_SOME,
  SHORTAGE_GROUP
} shortage_scope;

/* Functions return an error code; all but `call` may be NULL. */
typedef struct {
  const char *name;
  shortage_scope scope;
  int (*begin)(void); /* sets up what the call takes, besides shortage_group */
  int (*call)(void);
  int (*right)(void); /* 1: the result is right; looked at after a success */
  int (*end)(void);   /* frees what begin has made, and the call where it has succeeded */
} shortage_call;

/* The world, and a fresh duplicate of it for each attempt. */
extern rg_group shortage_world, shortage_group;

/* The main function of a program that tries these calls, a list that ends with a NULL name. A call
 * that does not return ends the program with its name. */
int shortage_main(int argc, char **argv, const char *suite, const shortage_call calls[]);

/* The caller's n-th allocation from now on fails (0: none), lasting: and all later ones. */
void shortage_begin(int n, int lasting);

/* From now on there is memory again. 1: an allocation has failed since it began. */
int shortage_over(void);

/* There is memory between the two, for what is not the library's. */
int shortage_pause(void);
void shortage_resume(int paused);

/* The code of a call that concerns the caller alone: it is made again after RG_ERR_NOMEM, and then
 * succeeds, so that what all members have made is complete. */
#define SHORTAGE_TWICE(name, call_of_it)                                                           \
  static int name(void) {                                                                          \
    int code = (call_of_it);                                                                       \
    shortage_over();                                                                               \
    return code == RG_ERR_NOMEM && (call_of_it) ? RG_ERR_INTERNAL : code;                          \
  }

#endif
