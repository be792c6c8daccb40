/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Finds a walker's record in the store by its key. */
#ifndef RGI_STORE_RECORD_INDEX_H
#define RGI_STORE_RECORD_INDEX_H

#include "walkers/store/store.h"
#include "walkers/team/queue.h"

/* Places of records by their keys. */
typedef struct {
  rgi_store *store;
  struct {
    uint64_t key, offset;
  } * at;
  size_t room, count;
  uint64_t head; /* of the node's list when it was last read */
} rgi_record_index;

/* *offset: the record of a key, or 0. */
int rgi_record_index_find(rgi_record_index *index, uint64_t key, uint64_t *offset);
/* Empties the table; it is filled again when needed. */
void rgi_record_index_clear(rgi_record_index *index);

/* --- packs of records: record_pack.c ---------------------------------------------------------- */

/* Walkers' records packed one after another, to go to another node. */

typedef struct {
  char *memory;
  size_t bytes, room;
} rgi_record_pack;

/* Adds a copy of a record. */
int rgi_record_pack_add(rgi_record_pack *pack, uint64_t offset);
void rgi_record_pack_free(rgi_record_pack *pack);
/* Takes packed records into this node's store; *record: the place of the last one. */
int rgi_record_pack_take(rgi_record_index *index, const void *packed, size_t bytes,
                         uint64_t *record);

/* A walker that waits leaves for another node: packs its record into its memory; and has come from
 * one: takes that into the store. Without a store they do nothing. */
int rgi_record_pack_attach(const rgi_store *store, rgi_queue_entry *entry);
int rgi_record_pack_detach(rgi_record_index *index, rgi_queue_entry *entry);

#endif
