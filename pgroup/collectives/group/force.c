/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Algorithms that the user asks for by name: the parser of "name" and of
 * "hierarchical:between:inside", and the option RG_COLL, which rg_init reads. */
#include "collectives/group/force.h"

#include <string.h>

#include "base/error.h"
#include "base/option_table.h"
#include "collectives/algorithms/hier.h"
#include "collectives/group/operation.h"
#include "runtime/runtime.h"

static int is_word(const char *text, size_t length, const char *word) {
  return strlen(word) == length && memcmp(text, word, length) == 0;
}

static int row_named(rg_operation op, const char *name, size_t length) {
  for (int i = 0; rgi_operation_algorithms[op][i].name; i++)
    if (is_word(name, length, rgi_operation_algorithms[op][i].name))
      return i;
  return -1;
}

/* The same for the algorithm between nodes or inside a node, which must send messages. */
static int message_row(rg_operation op, const char *name, size_t length) {
  int row = row_named(op, name, length);
  return row >= 0 && !(rgi_operation_algorithms[op][row].needs &
                       (RGI_ALGORITHM_ONE_NODE | RGI_ALGORITHM_NODES))
             ? row
             : -1;
}

static int unknown_algorithm(const char *call, rg_operation op, const char *name, size_t length) {
  char list[256] = "auto";
  for (int i = 0; rgi_operation_algorithms[op][i].name; i++) {
    strncat(list, ", ", sizeof list - strlen(list) - 1);
    strncat(list, rgi_operation_algorithms[op][i].name, sizeof list - strlen(list) - 1);
  }
  return rgi_error(RG_ERR_OPTION, "%s: \"%.*s\" is no algorithm for %s here; there are: %s", call,
                   (int)length, name, rgi_operation_names[op], list);
}

/* "name", or "hierarchical:between:inside". */
static int parse_algorithm(const char *call, rg_operation op, const char *text, size_t length,
                           rgi_coll_forced *force) {
  const char *end = text + length;
  *force = RGI_COLL_NOT_FORCED;
  if (is_word(text, length, "auto"))
    return RG_SUCCESS;
  for (int i = 0; i < 3; i++) {
    const char *colon = memchr(text, ':', (size_t)(end - text));
    size_t n = (size_t)((colon ? colon : end) - text);
    rg_operation table = i == 0 ? op : i == 1 ? rgi_hier_op_between(op) : rgi_hier_op_inside(op);
    int row = i == 0 ? row_named(op, text, n) : message_row(table, text, n);
    if (row < 0)
      return unknown_algorithm(call, table, text, n);
    *(i == 0 ? &force->row : i == 1 ? &force->between : &force->inside) = (signed char)row;
    if (!colon)
      return RG_SUCCESS;
    if (i == 2 || !(rgi_operation_algorithms[op][force->row].needs & RGI_ALGORITHM_NODES))
      return unknown_algorithm(call, op, text, (size_t)(end - text));
    text = colon + 1;
  }
  return RG_SUCCESS;
}

int rgi_force_parse(const char *call, rg_operation op, const char *name, rgi_coll_forced *force) {
  rgi_coll_forced found;
  RGI_TRY(parse_algorithm(call, op, name, strlen(name), &found));
  *force = found;
  return RG_SUCCESS;
}

static struct {
  rgi_coll_forced forced[RG_OP_COUNT];
  int any;
} environment;

static int unknown_setting(const char *text, size_t length) {
  char list[400] = "";
  for (int op = 0; op < RG_OP_COUNT; op++) {
    strncat(list, op ? ", " : "", sizeof list - strlen(list) - 1);
    strncat(list, rgi_operation_names[op], sizeof list - strlen(list) - 1);
  }
  return rgi_error(RG_ERR_OPTION,
                   "RG_COLL: \"%.*s\": expected operation=algorithm,... with operations of: %s",
                   length > 60 ? 60 : (int)length, text, list);
}

/* "operation=algorithm" */
static int parse_setting(const char *text, size_t length) {
  const char *equals = memchr(text, '=', length);
  size_t n = equals ? (size_t)(equals - text) : length;
  for (int op = 0; op < RG_OP_COUNT && equals; op++)
    if (is_word(text, n, rgi_operation_names[op])) {
      environment.any = 1;
      return parse_algorithm("RG_COLL", (rg_operation)op, equals + 1, length - n - 1,
                             &environment.forced[op]);
    }
  return unknown_setting(text, length);
}

static int read_environment(void) {
  const char *text = rgi_option_text(RGI_OPT_COLL);
  environment.any = 0;
  for (int op = 0; op < RG_OP_COUNT; op++)
    environment.forced[op] = RGI_COLL_NOT_FORCED;
  while (*text) {
    size_t n = strcspn(text, ",");
    if (n)
      RGI_TRY(parse_setting(text, n));
    text += n + (text[n] == ',');
  }
  return RG_SUCCESS;
}

__attribute__((constructor)) static void offer_reader(void) {
  rgi_runtime.read_algorithms = read_environment;
}

void rgi_force_environment(rgi_coll_forced forced[], int *any) {
  *any |= environment.any;
  for (int op = 0; op < RG_OP_COUNT && environment.any; op++)
    if (environment.forced[op].row >= 0)
      forced[op] = environment.forced[op];
}
