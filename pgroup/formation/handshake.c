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
#include "base/spare.h"
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
  int head[HEAD]; /* instead of ints where there is no memory */
} handshake_packet;

/* The most ints that a packet has. */
static int packet_room(void) {
  return HEAD + 3 + 2 * rgi_runtime.size;
}

static int *packet_ints(handshake_packet *packet) {
  return packet->ints ? packet->ints : packet->head;
}

static uint64_t id_of(handshake_packet *packet) {
  return rgi_group_tree_get_uint64(packet_ints(packet) + ID);
}

/* Without memory for the members the packet has its head, with the error. */
static void build_packet(rg_group mine, const rgi_handshake_offer *offer, uint64_t id, int error,
                         handshake_packet *packet) {
  int *ints = packet_ints(packet);
  packet->count = packet->ints ? HEAD + offer->n + rgi_members_packed(mine->members) : HEAD;
  ints[KIND] = (int)offer->kind;
  ints[TAG] = offer->tag;
  ints[HIGH] = offer->high;
  ints[ERROR] = error;
  ints[LEAVING] = offer->n;
  ints[DIVERGED] = mine->diverged;
  rgi_group_tree_put_uint64(ints + ID, id);
  if (!packet->ints)
    return;
  if (offer->n)
    memcpy(ints + HEAD, offer->leaving, (size_t)offer->n * sizeof *offer->leaving);
  rgi_members_pack(mine->members, ints + HEAD + offer->n);
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
    int source, tag = leader->tag == NO_TAG ? RGI_ANY : leader->tag;
    const rgi_message_envelope wanted[] = {
        {.context = packet_context(), .peer = leader->remote, .tag = tag},
        {.context = packet_context(), .peer = leader->remote, .tag = NO_TAG}};
    RGI_TRY(rgi_group_tree_receive_into(
        wanted, 2, leader->consent->call, leader->theirs.ints ? packet_room() : HEAD,
        packet_ints(&leader->theirs), &source, &leader->theirs.count));
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

static int find_overlap(const char *call, rg_group mine, const int theirs[]) {
  for (int i = 0; i < theirs[0]; i++)
    if (rgi_members_find(mine->members, rgi_members_packed_at(theirs, i)) >= 0)
      return rgi_error(RG_ERR_MISMATCH, "%s: rank %d of the world is in both groups", call,
                       rgi_members_packed_at(theirs, i));
  return RG_SUCCESS;
}

static void read_packet(rg_group mine, handshake_packet *packet, uint64_t id,
                        rgi_handshake_peer *peer) {
  peer->id[0] = id;
  peer->id[1] = id_of(packet);
  peer->diverged = mine->diverged || packet->ints[DIVERGED];
  peer->high = packet->ints[HIGH];
  peer->n = packet->ints[LEAVING];
  peer->leaving = packet->ints + HEAD;
  peer->members = packet->ints + HEAD + peer->n;
}

/* Both leaders compare both packets, and get the same result. */
static int compare_packets(handshake_leader *leader) {
  const int *mine = packet_ints(&leader->own), *theirs = packet_ints(&leader->theirs);
  const char *call = leader->consent->call;
  if (leader->theirs.ints && leader->theirs.count > HEAD) {
    read_packet(leader->mine, &leader->theirs, leader->consent->id, leader->peer);
    int error = find_overlap(call, leader->mine, leader->peer->members);
    leader->overlap = error != RG_SUCCESS;
    RGI_TRY(error);
  }
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
static int receive_verdict(handshake_leader *leader, int tag, handshake_verdict *verdict) {
  const rgi_message_envelope wanted = {
      .context = verdict_context(), .peer = leader->remote, .tag = tag};
  uint64_t *watched = &rgi_failure_scope_now.creation_ids[0], own = *watched;
  int error;
  *watched = id_of(&leader->theirs);
  do {
    int source, count, ints[sizeof *verdict / sizeof(int)];
    error = rgi_group_tree_receive_into(&wanted, 1, leader->consent->call,
                                        (int)(sizeof ints / sizeof *ints), ints, &source, &count);
    if (error)
      break;
    memcpy(verdict, ints, sizeof *verdict);
  } while (verdict->theirs != leader->consent->id);
  *watched = own;
  return error;
}

/* Until both leaders have sent verdicts on the same pair of packets. */
static int pair_up(handshake_leader *leader) {
  rgi_message_envelope to = {.context = verdict_context(),
                             .peer = leader->remote,
                             .tag = leader->tag,
                             .bytes = sizeof(handshake_verdict)};
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
      to.tag = message_tag(packet_ints(&leader->theirs)[TAG]);
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

/* own.ints becomes NULL where MPI may still read them; a head is too short for that. */
static int exchange_packets(handshake_leader *leader) {
  rgi_message message;
  size_t bytes = (size_t)leader->own.count * sizeof(int);
  RGI_TRY(rgi_message_send_surely(
      &(rgi_message_envelope){
          .context = packet_context(), .peer = leader->remote, .tag = leader->tag, .bytes = bytes},
      packet_ints(&leader->own), &message));
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
  rgi_group_consent *consent = leader->consent;
  int error = find_remote(consent->call, leader->mine, leader->offer, &leader->remote);
  if (!error) {
    build_packet(leader->mine, leader->offer, consent->id, consent->error, &leader->own);
    error = exchange_packets(leader);
  }
  if (error)
    rgi_group_consent_fail(consent, error, 0);
  rgi_spare_free(leader->own.ints);
}

/* A leader's memory for both packets. */
static void take_memory(handshake_leader *leader) {
  size_t bytes = (size_t)packet_room() * sizeof(int);
  leader->own.ints = rgi_spare_alloc(bytes);
  leader->theirs.ints = rgi_spare_alloc(bytes);
  if (!leader->own.ints || !leader->theirs.ints)
    rgi_group_consent_fail(leader->consent,
                           rgi_error(RG_ERR_NOMEM, "%s: no memory", leader->consent->call), 0);
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
  rgi_group_consent consent =
      rgi_group_consent_begin(mine, call, hash_offer(offer), offer->error, packet_room());
  handshake_leader leader = {.mine = mine,
                             .offer = offer,
                             .consent = &consent,
                             .peer = peer,
                             .tag = message_tag(offer->tag)};
  handshake_packet *theirs = &leader.theirs;
  *peer = (rgi_handshake_peer){0};
  if (mine->me == 0) {
    take_memory(&leader);
    lead_handshake(&leader);
  } else
    rgi_group_consent_gather(&consent, 0, NULL, NULL);
  int error = rgi_group_consent_tell(&consent, &theirs->count, &theirs->ints);
  peer->ints = theirs->ints;
  if (error && !consent.own && consent.rank == RGI_GROUP_CONSENT_ELSEWHERE)
    explain_remote(call, error);
  if (!error)
    read_packet(mine, theirs, consent.id, peer);
  if (error)
    rgi_handshake_peer_free(peer);
  /* All have been told of a lack of memory. */
  return error == RG_ERR_NOMEM ? error : rgi_group_creation_result(consent.id, error);
}

void rgi_handshake_peer_free(rgi_handshake_peer *peer) {
  rgi_spare_free(peer->ints);
  *peer = (rgi_handshake_peer){0};
}
