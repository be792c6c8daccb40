/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The leaders (members 0) exchange packets: kind of operation, members, leaving ranks, error and
 * creation id of each side. Both compare the packets and find the same result. Then each gathers
 * the reports of its group (group_consent.h), and they exchange verdicts: whether all members of
 * their groups consent. Each tells its group the other side's packet, or the error. The packets
 * come first because they show whether the groups share a process, whose report one of the leaders
 * would wait for in vain.
 *
 * Where deaths are survived, an attempt may be repeated by one side only, so that a packet can be
 * the answer to an earlier packet. A packet whose id is revoked is skipped, and the verdicts name
 * the two ids that their senders take to belong together. */
#include "formation/handshake.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "formation/group_consent.h"
#include "formation/group_tree.h"
#include "message/message.h"
#include "shm/failure.h"
#include "shm/revocation.h"

/* A packet, as ints: the head, the leaving ranks, the packed members. ID: the creation id, two
 * ints. */
enum { KIND, TAG, HIGH, ERROR, LEAVING, DIVERGED, ID, HEAD = ID + 2 };

typedef struct {
  int count, *ints;
} handshake_packet;

static uint64_t id_of(const handshake_packet *packet) {
  return rgi_group_tree_get_uint64(packet->ints + ID);
}

static int build_packet(const char *call, rg_group mine, const rgi_handshake_offer *offer,
                        uint64_t id, handshake_packet *packet) {
  packet->count = HEAD + offer->n + rgi_members_packed(mine->members);
  packet->ints = malloc((size_t)packet->count * sizeof *packet->ints);
  if (!packet->ints)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
  packet->ints[KIND] = (int)offer->kind;
  packet->ints[TAG] = offer->tag;
  packet->ints[HIGH] = offer->high;
  packet->ints[ERROR] = offer->error;
  packet->ints[LEAVING] = offer->n;
  packet->ints[DIVERGED] = mine->diverged;
  rgi_group_tree_put_uint64(packet->ints + ID, id);
  if (offer->n)
    memcpy(packet->ints + HEAD, offer->leaving, (size_t)offer->n * sizeof *offer->leaving);
  rgi_members_pack(mine->members, packet->ints + HEAD + offer->n);
  return RG_SUCCESS;
}

/* --- the leaders ----------------------------------------------------------------- */

/* The tag that the leaders' messages match by: the caller's where threads may lead different
 * groups at the same time. Elsewhere leaders whose tags differ meet, and find that. A leader with a
 * wrong tag meets whom it names, whose message has any tag. */
#define NO_TAG (1 << 28)

static int message_tag(int tag) {
  if (!rgi_runtime.threads_of_any)
    return 0;
  return tag >= 0 && tag < NO_TAG ? tag : NO_TAG;
}

/* A leader's part. remote: the other leader, a world rank; tag: of the messages. */
typedef struct {
  rg_group mine;
  const rgi_handshake_offer *offer;
  rgi_group_consent *consent;
  handshake_packet own, theirs;
  rgi_handshake_peer *peer;
  int remote, tag;
  int overlap, gathered;
} handshake_leader;

static uint64_t packet_context(void) {
  return rgi_mix_bits(0x6d656574u);
}

static uint64_t verdict_context(void) {
  return rgi_mix_bits(0x636f6e66u);
}

/* Receives the next packet that is valid. A packet is not if its side has got an error meanwhile
 * and revoked the id: its sender does not wait for an answer. */
static int receive_packet(handshake_leader *leader) {
  do {
    handshake_packet packet;
    int source, tag = leader->tag == NO_TAG ? RGI_ANY : leader->tag;
    const rgi_message_envelope wanted[] = {{packet_context(), leader->remote, tag, 0},
                                           {packet_context(), leader->remote, NO_TAG, 0}};
    RGI_TRY(rgi_group_tree_receive_any(wanted, 2, leader->consent->call, &source, &packet.count,
                                       &packet.ints));
    free(leader->theirs.ints);
    leader->theirs = packet;
  } while (rgi_revocation_has(id_of(&leader->theirs)));
  return RG_SUCCESS;
}

static int explain_mismatch(const char *call) {
  return rgi_error(RG_ERR_MISMATCH,
                   "%s: the two groups do not make the same call, pass different tags or the same "
                   "value of high, or share a process",
                   call);
}

static int explain_remote(const char *call, int error) {
  if (error == RG_ERR_MISMATCH)
    return explain_mismatch(call);
  return rgi_error(error, "%s: the other group reported: %s", call, rg_error_string(error));
}

static int find_overlap(const char *call, rg_group mine, const rgi_members *theirs) {
  for (int i = 0; i < rgi_members_count(theirs); i++)
    if (rgi_members_find(mine->members, rgi_members_at(theirs, i)) >= 0)
      return rgi_error(RG_ERR_MISMATCH, "%s: rank %d of the world is in both groups", call,
                       rgi_members_at(theirs, i));
  return RG_SUCCESS;
}

static int unpack_packet(const char *call, rg_group mine, const handshake_packet *packet,
                         uint64_t id, rgi_handshake_peer *peer) {
  peer->id[0] = id;
  peer->id[1] = id_of(packet);
  peer->diverged = mine->diverged || packet->ints[DIVERGED];
  peer->high = packet->ints[HIGH];
  peer->n = packet->ints[LEAVING];
  peer->leaving = packet->ints + HEAD;
  rgi_members_drop(peer->members);
  peer->members = NULL;
  return rgi_members_unpack(call, packet->ints + HEAD + peer->n, &peer->members);
}

/* Both leaders compare both packets, and get the same result. */
static int compare_packets(handshake_leader *leader) {
  const int *mine = leader->own.ints, *theirs = leader->theirs.ints;
  const char *call = leader->consent->call;
  RGI_TRY(unpack_packet(call, leader->mine, &leader->theirs, leader->consent->id, leader->peer));
  int error = find_overlap(call, leader->mine, leader->peer->members);
  leader->overlap = error != RG_SUCCESS;
  RGI_TRY(error);
  if (theirs[ERROR])
    return explain_remote(call, theirs[ERROR]);
  if (mine[KIND] != theirs[KIND] || mine[TAG] != theirs[TAG] ||
      (mine[KIND] == RGI_HANDSHAKE_MERGE && mine[HIGH] == theirs[HIGH]))
    return explain_mismatch(call);
  return RG_SUCCESS;
}

/* The pair of ids that its sender takes to belong together, its own first; the sender's error. */
typedef struct {
  uint64_t mine, theirs;
  int64_t error;
} handshake_verdict;

/* Waits for the other leader's verdict on a pair with the own packet. If that one gives up its
 * packet, the wait ends: it has revoked the id. */
static int receive_verdict(const handshake_leader *leader, int tag, handshake_verdict *verdict) {
  uint64_t *watched = &rgi_failure_scope_now.creation_ids[0], own = *watched;
  int error;
  *watched = id_of(&leader->theirs);
  do {
    int count, *ints;
    error = rgi_group_tree_receive(verdict_context(), leader->remote, tag, leader->consent->call,
                                   &count, &ints);
    if (error)
      break;
    memcpy(verdict, ints, sizeof *verdict);
    free(ints);
  } while (verdict->theirs != leader->consent->id);
  *watched = own;
  return error;
}

/* Until both leaders have sent verdicts on the same pair of packets. */
static int pair_up(handshake_leader *leader) {
  rgi_message_envelope to = {verdict_context(), leader->remote, leader->tag,
                             sizeof(handshake_verdict)};
  handshake_verdict theirs = {0};
  int error;
  do { /* at first, and when the other leader has sent another packet since */
    RGI_TRY(receive_packet(leader));
    error = compare_packets(leader);
    if (!leader->overlap && !leader->gathered)
      rgi_group_consent_gather(leader->consent, 0, NULL, NULL);
    leader->gathered |= !leader->overlap;
    const handshake_verdict mine = {leader->consent->id, id_of(&leader->theirs),
                                    leader->consent->error ? leader->consent->error : error};
    if (leader->tag == NO_TAG)
      to.tag = message_tag(leader->theirs.ints[TAG]);
    RGI_TRY(rgi_message_deliver(&to, &mine, leader->consent->call));
    if (leader->consent->lost)
      return leader->consent->error;
    if (theirs.mine != mine.theirs) /* else it has come before its packet was received */
      RGI_TRY(receive_verdict(leader, to.tag, &theirs));
  } while (theirs.mine != id_of(&leader->theirs));
  if (!error && theirs.error && !leader->consent->error)
    error = explain_remote(leader->consent->call, (int)theirs.error);
  if (error)
    rgi_group_consent_fail(leader->consent, error, RGI_GROUP_CONSENT_ELSEWHERE);
  return RG_SUCCESS;
}

/* own.ints becomes NULL where MPI may still read them. */
static int exchange_packets(handshake_leader *leader) {
  rgi_message message;
  size_t bytes = (size_t)leader->own.count * sizeof(int);
  RGI_TRY(rgi_message_send_surely(
      &(rgi_message_envelope){packet_context(), leader->remote, leader->tag, bytes},
      leader->own.ints, &message));
  int error = pair_up(leader);
  if (error)
    rgi_message_abandon(&message);
  else
    error = rgi_message_wait(&message, leader->consent->call);
  if (message.left)
    leader->own.ints = NULL;
  return error;
}

static int find_remote(const char *call, rg_group mine, const rgi_handshake_offer *offer,
                       int *remote) {
  RGI_TRY(rgi_group_check(call, offer->parent));
  if (offer->remote_leader < 0 || offer->remote_leader >= rgi_members_count(offer->parent->members))
    return rgi_error(RG_ERR_RANK, "%s: remote leader %d; the parent's ranks go from 0 to %d", call,
                     offer->remote_leader, rgi_members_count(offer->parent->members) - 1);
  *remote = rgi_members_at(offer->parent->members, offer->remote_leader);
  if (rgi_members_find(mine->members, *remote) >= 0)
    return rgi_error(RG_ERR_RANK, "%s: the remote leader is a member of the caller's own group",
                     call);
  rgi_failure_scope_now.parent = offer->parent->context;
  return RG_SUCCESS;
}

static void lead_handshake(handshake_leader *leader) {
  const char *call = leader->consent->call;
  int error = find_remote(call, leader->mine, leader->offer, &leader->remote);
  if (!error)
    error = build_packet(call, leader->mine, leader->offer, leader->consent->id, &leader->own);
  if (!error)
    error = exchange_packets(leader);
  if (error)
    rgi_group_consent_fail(leader->consent, error, 0);
  free(leader->own.ints);
}

/* --- all members ------------------------------------------------------------------ */

static uint64_t hash_offer(const rgi_handshake_offer *offer) {
  uint64_t hash = rgi_mix_bits((uint64_t)offer->kind << 32 | (uint32_t)offer->high);
  hash = rgi_mix_bits(hash + (uint32_t)offer->tag);
  for (int i = 0; i < offer->n; i++)
    hash = rgi_mix_bits(hash + (uint32_t)offer->leaving[i] + 1);
  return hash;
}

int rgi_handshake(const char *call, rg_group mine, const rgi_handshake_offer *offer,
                  rgi_handshake_peer *peer) {
  rgi_group_consent consent = rgi_group_consent_begin(mine, call, hash_offer(offer), offer->error);
  handshake_leader leader = {.mine = mine,
                             .offer = offer,
                             .consent = &consent,
                             .peer = peer,
                             .tag = message_tag(offer->tag)};
  handshake_packet *theirs = &leader.theirs;
  *peer = (rgi_handshake_peer){0};
  if (mine->me == 0)
    lead_handshake(&leader);
  else
    rgi_group_consent_gather(&consent, 0, NULL, NULL);
  int error = rgi_group_consent_tell(&consent, &theirs->count, &theirs->ints);
  peer->ints = theirs->ints;
  if (error && !consent.own && consent.rank == RGI_GROUP_CONSENT_ELSEWHERE)
    explain_remote(call, error);
  if (!error && mine->me > 0)
    error = unpack_packet(call, mine, theirs, consent.id, peer);
  if (error)
    rgi_handshake_peer_free(peer);
  return rgi_group_creation_result(consent.id, error);
}

void rgi_handshake_peer_free(rgi_handshake_peer *peer) {
  rgi_members_drop(peer->members);
  free(peer->ints);
  *peer = (rgi_handshake_peer){0};
}
