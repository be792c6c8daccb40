/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Slots: blocks of the node's arena that processes find by a key. The first
 * process to ask for a key makes the block, the others attach to it; no message
 * is sent, and no process waits for another one to come. */
#ifndef RGI_SLOT_H
#define RGI_SLOT_H

#include <stddef.h>
#include <stdint.h>

/* Finds or makes the slot with this key. users: how many processes of the node
 * use it; bytes: its size; both the same for all of them. *memory is zeroed when
 * the slot is made and aligned to a line. A process that has detached may attach
 * again. A new slot takes memory for the thread's purpose (rgi_arena_set_purpose), or for
 * RGI_ARENA_TELL. RG_ERR_NOMEM; RG_ERR_MISMATCH (the slot of this key has other users or another
 * size); RG_ERR_LIMIT (the process has attached it 65,535 times). */
int rgi_slot_attach(uint64_t key, int users, size_t bytes, uint64_t *slot, void **memory);

/* key, users, bytes: as for rgi_slot_attach. nodes: NULL, or for memory of which
 * each user mostly uses a part, all of them about equal: a large slot has each part on its user's
 * memory node; read during the call. once: no other slot has the key later; when a user has got
 * RG_ERR_NOMEM for it, all that come later get that, too, although there may be memory then: a user
 * that has the slot would wait for the one that has it not. */
typedef struct {
  uint64_t key;
  int users;
  size_t bytes;
  const int16_t *nodes;
  int once;
} rgi_slot_wanted;
int rgi_slot_attach_wanted(const rgi_slot_wanted *wanted, uint64_t *slot, void **memory);

/* Attaches the slot with this key if there is one, and says so. Takes no memory. */
int rgi_slot_attach_found(uint64_t key, uint64_t *slot, void **memory);

/* Frees the slot if no process is attached any more and finished(memory, users) returns 1; then 1
 * is returned. finished must return 0 as long as a user that has not attached yet needs the slot.
 */
int rgi_slot_detach(uint64_t slot, int (*finished)(const void *memory, int users));

/* As rgi_slot_detach, but what a dead process has attached to counts as detached: for memory that
 * can be freed at whatever point its users have died. */
int rgi_slot_detach_surviving(uint64_t slot, int (*finished)(const void *memory, int users));

/* A group's flags take at most so many bytes for each of its members on the node, and so many
 * besides; a round of a decision takes less. */
#define RGI_SLOT_MEMBER_BYTES 1344
#define RGI_SLOT_HEAD_BYTES 1024

/* What is set aside in the arena of a node with n processes: for each rgi_arena_purpose. */
void rgi_slot_set_aside(int n, int world, size_t aside[]);

/* Bytes that the table of slots takes of the arena; where they are (zeroed by the caller). */
size_t rgi_slot_table_bytes(void);
void rgi_slots_open(void *memory);

#endif
