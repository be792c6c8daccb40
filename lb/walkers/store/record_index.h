/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Finds a walker's record in the store by its key. */
#ifndef RGI_STORE_RECORD_INDEX_H
#define RGI_STORE_RECORD_INDEX_H

#include "walkers/store/store.h"

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

#endif
