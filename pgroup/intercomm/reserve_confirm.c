/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The confirmation is an empty message in a context made from the operation's number. Several
 * members send it, since any of them may die first; one of the messages is enough. An acquired
 * process gives up when all senders are dead or the number has been revoked. It looks at
 * these two before it looks into its inbox: what a sender sent before it died is there then. */
#include "intercomm/reserve.h"

#include "base/error.h"
#include "base/mix.h"
#include "formation/group.h"
#include "message/message.h"
#include "progress/wait.h"
#include "shm/node.h"
#include "shm/process.h"
#include "shm/revocation.h"

/* The first members of the group that acquires, which send it. */
#define SENDERS 4

static uint64_t confirm_context(uint64_t number) {
  return rgi_mix_bits(number + 0x676f2121u);
}

int rgi_reserve_confirm(const char *call, rg_group g, uint64_t number,
                        const rgi_members *acquired) {
  for (int i = 0; i < rgi_members_count(acquired) && g->me < SENDERS; i++) {
    int error = rgi_message_deliver(&(rgi_message_envelope){.context = confirm_context(number),
                                                            .peer = rgi_members_at(acquired, i)},
                                    NULL, call);
    if (error && error != RG_ERR_PROC_FAILED) /* the new group's calls report that death */
      return error;
  }
  return RG_SUCCESS;
}

static int is_cancelled(const rgi_members *callers, uint64_t number) {
  int n = rgi_members_count(callers), living = 0;
  for (int i = 0; i < n && i < SENDERS; i++)
    living += !rgi_process_is_dead(rgi_members_at(callers, i));
  return !living || rgi_revocation_has(number);
}

int rgi_reserve_confirm_await(const char *call, const rgi_members *callers, uint64_t number) {
  rgi_message_envelope wanted = {.context = confirm_context(number), .peer = RGI_ANY}, found;
  rgi_wait wait;
  rgi_wait_start_patient(&wait, call);
  for (;;) {
    uint32_t bell = atomic_load(&rgi_node_bell()->value);
    int there, cancelled = is_cancelled(callers, number);
    RGI_TRY(rgi_message_probe(&wanted, &there, &found, NULL));
    if (there)
      return RG_SUCCESS;
    if (cancelled)
      return RG_ERR_REVOKED;
    RGI_TRY(rgi_wait_bell(&wait, rgi_node_bell(), bell, rgi_node.count == 1));
  }
}
