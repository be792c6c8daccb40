/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers' records packed one after another, to go to another node. */
#ifndef RGI_STORE_RECORD_PACK_H
#define RGI_STORE_RECORD_PACK_H

#include "walkers/store/record_index.h"
#include "walkers/store/store.h"
#include "walkers/team/queue.h"

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
