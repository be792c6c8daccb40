/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The table of walkers that the nodes make after a death: for each walker what its newest version
 * says, and which nodes have that version. A walker's state is not in it. */
#ifndef RGI_STORE_RECORD_TABLE_H
#define RGI_STORE_RECORD_TABLE_H

#include <stdint.h>

#include "walkers/store/record_index.h"

/* A walker. It goes between nodes as it is. */
typedef struct {
  uint64_t key, parent;
  int64_t number, born, done, met, id, least, most;
  double left, unit;
  int64_t children; /* entries of walkers that its units have made, and that count */
  int32_t ended;
  int32_t counts;        /* its parent's version has counted it */
  int32_t holder, other; /* nodes that have this version, in two failure domains; other: or -1 */
} rgi_record_table_entry;

typedef struct {
  rgi_record_table_entry *at;
  int64_t count, room;
} rgi_record_table;

/* The table of the records that have a version on this node, number `node`. */
int rgi_record_table_read(rgi_record_table *table, rgi_record_index *index, int node);
void rgi_record_table_free(rgi_record_table *table);

/* Sorts by keys, and leaves one entry of each walker: its newest version. domain: of each node. */
void rgi_record_table_merge(rgi_record_table *table, const uint64_t domain[]);
/* In a merged table: the entry of a key, or NULL. */
rgi_record_table_entry *rgi_record_table_find(const rgi_record_table *table, uint64_t key);
/* In a merged table: sets which entries count, and how many children they have. Walkers that no
 * unit has made do. */
void rgi_record_table_mark(rgi_record_table *table);
/* In a marked table: whether a walker that the version counts is on no node. */
static inline int rgi_record_table_lacks(const rgi_record_table_entry *entry) {
  return entry->counts && entry->children < entry->born;
}

/* Whether a node's version is that of the entry. */
static inline int rgi_record_table_is(const rgi_record_table_entry *entry,
                                      const rgi_record_version *version) {
  return version->done == entry->done && version->met == entry->met &&
         version->ended == entry->ended;
}

#endif
