/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Nodes and domains are renumbered in the order of their lowest ranks. The i-th node of
 * a domain is held by the i-th node of the next domain, modulo the nodes there, and the i-th member
 * of a node by the i-th member of that node, modulo the members there. */
#include "machine/domain.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Things in classes: the i-th thing of class c is list[first[c] + i]. */
typedef struct {
  int classes;
  int *class_of, *place; /* of each thing: its class, and its index there */
  int *first, *list;     /* first has one entry more than there are classes */
} grouping;

static int open_grouping(grouping *made, int things) {
  size_t n = (size_t)things;
  *made = (grouping){.class_of = calloc(4 * n + 2, sizeof(int))};
  if (!made->class_of)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d members", things);
  made->place = made->class_of + n;
  made->list = made->place + n;
  made->first = made->list + n;
  return RG_SUCCESS;
}

/* When class_of and classes are set. */
static void fill_grouping(grouping *grouping, int things) {
  memset(grouping->first, 0, ((size_t)grouping->classes + 1) * sizeof *grouping->first);
  for (int i = 0; i < things; i++)
    grouping->place[i] = grouping->first[grouping->class_of[i] + 1]++;
  for (int c = 0; c < grouping->classes; c++)
    grouping->first[c + 1] += grouping->first[c];
  for (int i = 0; i < things; i++)
    grouping->list[grouping->first[grouping->class_of[i]] + grouping->place[i]] = i;
}

static int at_modulo(const grouping *grouping, int class, int i) {
  int count = grouping->first[class + 1] - grouping->first[class];
  return grouping->list[grouping->first[class] + i % count];
}

/* Members by nodes, in the order of the nodes' lowest ranks. */
static int group_by_node(int members, const int node[], int nodes, grouping *by_node) {
  int *number = calloc((size_t)nodes + 1, sizeof *number);
  if (!number)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d nodes", nodes);
  int error = open_grouping(by_node, members);
  for (int i = 0; i < members && !error; i++) {
    if (!number[node[i]])
      number[node[i]] = ++by_node->classes;
    by_node->class_of[i] = number[node[i]] - 1;
  }
  free(number);
  if (!error)
    fill_grouping(by_node, members);
  return error;
}

typedef struct {
  uint64_t domain;
  int node;
} keyed_node;

static int compare_keys(const void *a, const void *b) {
  const keyed_node *x = a, *y = b;
  if (x->domain != y->domain)
    return x->domain < y->domain ? -1 : 1;
  return (x->node > y->node) - (x->node < y->node);
}

/* Sets the class of each node, in the order of the domains' lowest nodes. Returns their number. */
static int number_domains(keyed_node *keys, int nodes, int class_of[]) {
  int domains = 0;
  qsort(keys, (size_t)nodes, sizeof *keys, compare_keys);
  for (int i = 0, lowest = 0; i < nodes; i++) {
    lowest = i && keys[i].domain == keys[i - 1].domain ? lowest : keys[i].node;
    class_of[keys[i].node] = lowest;
  }
  for (int i = 0; i < nodes; i++) /* a domain's lowest node comes before its others */
    class_of[i] = class_of[i] == i ? domains++ : class_of[class_of[i]];
  return domains;
}

/* Nodes by domains; if there is one domain only, each node is one. */
static int group_by_domain(const grouping *by_node, const uint64_t domain[], grouping *by_domain) {
  int nodes = by_node->classes;
  RGI_TRY(open_grouping(by_domain, nodes));
  keyed_node *keys = malloc((size_t)nodes * sizeof *keys);
  if (!keys)
    return rgi_error(RG_ERR_NOMEM, "no memory for %d nodes", nodes);
  for (int i = 0; i < nodes; i++)
    keys[i] = (keyed_node){domain[by_node->list[by_node->first[i]]], i};
  by_domain->classes = number_domains(keys, nodes, by_domain->class_of);
  free(keys);
  for (int i = 0; i < nodes && by_domain->classes == 1; i++)
    by_domain->class_of[i] = i;
  if (by_domain->classes == 1)
    by_domain->classes = nodes;
  fill_grouping(by_domain, nodes);
  return RG_SUCCESS;
}

static int holder_of(const grouping *by_node, const grouping *by_domain, int member) {
  int node = by_node->class_of[member];
  int next = (by_domain->class_of[node] + 1) % by_domain->classes;
  int held_by = at_modulo(by_domain, next, by_domain->place[node]);
  return at_modulo(by_node, held_by, by_node->place[member]);
}

int rgi_domain_holders(int members, const int node[], int nodes, const uint64_t domain[],
                       int holders[]) {
  grouping by_node = {0}, by_domain = {0};
  int error = group_by_node(members, node, nodes, &by_node);
  if (!error)
    error = group_by_domain(&by_node, domain, &by_domain);
  for (int i = 0; i < members && !error; i++)
    holders[i] = holder_of(&by_node, &by_domain, i);
  free(by_node.class_of);
  free(by_domain.class_of);
  return error;
}
