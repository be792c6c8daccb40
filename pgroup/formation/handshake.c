/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * The leaders (members 0) exchange packets: kind of operation, members, leaving ranks, error and
 * creation id of each side. Both compare the packets and find the same result; each broadcasts the
 * other side's packet, or its error, in its own group.
 *
 * Where deaths are survived, an attempt may be repeated by one side only, so that a packet can be
 * the answer to an earlier packet. A packet whose id is revoked is skipped, and the leaders
 * confirm to each other which two ids belong together (confirm_pair). */
#include "formation/handshake.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "formation/group_tree.h"
#include "message/message.h"
#include "noded/client/guard_client.h"
#include "shm/failure.h"
#include "shm/revocation.h"

/* A packet, as ints: the head, the leaving ranks, the packed members. ID: the creation id, two
 * ints. */
enum { KIND, HIGH, ERROR, LEAVING, DIVERGED, ID, HEAD = ID + 2 };

typedef struct {
  int count, *ints;
} handshake_packet;

static uint64_t id_of(const handshake_packet *packet) {
  return rgi_group_tree_get_uint64(packet->ints + ID);
}

static int build_packet(const char *call, rg_group mine, const rgi_handshake_offer *p, uint64_t id,
                        handshake_packet *packet) {
  packet->count = HEAD + p->n + rgi_members_packed(mine->members);
  packet->ints = malloc((size_t)packet->count * sizeof *packet->ints);
  if (!packet->ints)
    return rgi_error(RG_ERR_NOMEM, "%s: no memory", call);
  packet->ints[KIND] = (int)p->kind;
  packet->ints[HIGH] = p->high;
  packet->ints[ERROR] = p->error;
  packet->ints[LEAVING] = p->n;
  packet->ints[DIVERGED] = mine->diverged;
  rgi_group_tree_put_uint64(packet->ints + ID, id);
  if (p->n)
    memcpy(packet->ints + HEAD, p->leaving, (size_t)p->n * sizeof *p->leaving);
  rgi_members_pack(mine->members, packet->ints + HEAD + p->n);
  return RG_SUCCESS;
}

/* --- the leaders ----------------------------------------------------------------- */

static uint64_t packet_context(void) {
  return rgi_mix_bits(0x6d656574u);
}

static uint64_t confirmation_context(void) {
  return rgi_mix_bits(0x636f6e66u);
}

/* Receives the next packet that is valid. A packet is not if its side has got an error meanwhile
 * and revoked the id: its sender does not wait for an answer. */
static int receive_packet(const char *call, int remote, int tag, handshake_packet *theirs) {
  for (;;) {
    handshake_packet packet;
    RGI_TRY(
        rgi_group_tree_receive(packet_context(), remote, tag, call, &packet.count, &packet.ints));
    free(theirs->ints);
    *theirs = packet;
    if (!rgi_revocation_has(id_of(&packet)))
      return RG_SUCCESS;
  }
}

/* Each leader sends the pair of ids that it takes to belong together. *theirs is the right packet
 * when both leaders have sent the same pair. */
static int confirm_pair(const char *call, uint64_t mine, int remote, int tag,
                        handshake_packet *theirs) {
  uint64_t pair[2] = {mine, id_of(theirs)}, answer[2] = {0, 0};
  rgi_message_envelope to = {confirmation_context(), remote, tag, sizeof pair};
  RGI_TRY(rgi_message_deliver(&to, pair, call));
  while (answer[0] != pair[1] || answer[1] != mine) {
    int count, *ints;
    RGI_TRY(rgi_group_tree_receive(confirmation_context(), remote, tag, call, &count, &ints));
    memcpy(answer, ints, sizeof answer);
    free(ints);
    /* The other leader has sent another packet since. */
    while (answer[1] == mine && answer[0] != pair[1]) {
      RGI_TRY(receive_packet(call, remote, tag, theirs));
      pair[1] = id_of(theirs);
      RGI_TRY(rgi_message_deliver(&to, pair, call));
    }
  }
  return RG_SUCCESS;
}

/* mine->ints becomes NULL where MPI may still read them. */
static int exchange_packets(const char *call, handshake_packet *mine, int remote, int tag,
                            handshake_packet *theirs) {
  rgi_message r;
  RGI_TRY(rgi_message_send_surely(
      &(rgi_message_envelope){packet_context(), remote, tag, (size_t)mine->count * sizeof(int)},
      mine->ints, &r));
  uint64_t id = id_of(mine);
  int error = receive_packet(call, remote, tag, theirs);
  if (error)
    rgi_message_abandon(&r);
  else
    error = rgi_message_wait(&r, call);
  if (r.left)
    mine->ints = NULL;
  RGI_TRY(error);
  return rgi_guard_exists() ? confirm_pair(call, id, remote, tag, theirs) : RG_SUCCESS;
}

static int explain_mismatch(const char *call) {
  return rgi_error(RG_ERR_MISMATCH,
                   "%s: the two groups do not make the same call, or pass the same value of high",
                   call);
}

/* Both leaders compare both packets, and get the same result. remote: the other leader's rank in
 * the parent. */
static int compare_packets(const char *call, int remote, const int mine[], const int theirs[]) {
  if (mine[ERROR]) /* its text has been set already */
    return mine[ERROR];
  if (theirs[ERROR] == RG_ERR_MISMATCH)
    return explain_mismatch(call);
  if (theirs[ERROR])
    return rgi_error(theirs[ERROR],
                     "%s: the leader of the other group, rank %d of the parent, reported: %s", call,
                     remote, rg_error_string(theirs[ERROR]));
  if (mine[KIND] != theirs[KIND] ||
      (mine[KIND] == RGI_HANDSHAKE_MERGE && mine[HIGH] == theirs[HIGH]))
    return explain_mismatch(call);
  return RG_SUCCESS;
}

static int lead_handshake(const char *call, rg_group mine, const rgi_handshake_offer *p,
                          uint64_t id, handshake_packet *theirs) {
  handshake_packet own = {0};
  int world = -1;
  RGI_TRY(rgi_group_check(call, p->parent));
  if (p->remote_leader < 0 || p->remote_leader >= rgi_members_count(p->parent->members))
    return rgi_error(RG_ERR_RANK, "%s: remote leader %d; the parent's ranks go from 0 to %d", call,
                     p->remote_leader, rgi_members_count(p->parent->members) - 1);
  world = rgi_members_at(p->parent->members, p->remote_leader);
  if (rgi_members_find(mine->members, world) >= 0)
    return rgi_error(RG_ERR_RANK, "%s: the remote leader is a member of the caller's own group",
                     call);
  rgi_failure_scope_now.parent = p->parent->context;
  RGI_TRY(build_packet(call, mine, p, id, &own));
  int error = exchange_packets(call, &own, world, p->tag, theirs);
  if (!error)
    error = compare_packets(call, p->remote_leader, own.ints, theirs->ints);
  free(own.ints);
  return error;
}

static int unpack_packet(const char *call, rg_group mine, const handshake_packet *packet,
                         uint64_t id, rgi_handshake_peer *peer) {
  peer->id[0] = id;
  peer->id[1] = id_of(packet);
  peer->diverged = mine->diverged || packet->ints[DIVERGED];
  peer->high = packet->ints[HIGH];
  peer->n = packet->ints[LEAVING];
  peer->leaving = packet->ints + HEAD;
  RGI_TRY(rgi_members_unpack(call, packet->ints + HEAD + peer->n, &peer->members));
  for (int i = 0; i < rgi_members_count(peer->members); i++)
    if (rgi_members_find(mine->members, rgi_members_at(peer->members, i)) >= 0)
      return rgi_error(RG_ERR_MISMATCH, "%s: rank %d of the world is in both groups", call,
                       rgi_members_at(peer->members, i));
  return RG_SUCCESS;
}

/* The leader broadcasts the other side's packet, or its error, in its own group. */
static int broadcast_packet(const char *call, rg_group mine, int tag, int error,
                            handshake_packet *theirs) {
  int head[HEAD] = {0};
  handshake_packet sent = *theirs;
  if (mine->me == 0 && error)
    sent = (handshake_packet){HEAD, head};
  if (mine->me == 0)
    sent.ints[ERROR] = error;
  RGI_TRY(rgi_group_tree_broadcast(mine, tag, call, &sent.count, &sent.ints));
  if (mine->me == 0)
    return error;
  *theirs = sent;
  error = sent.ints[ERROR];
  if (error == RG_ERR_MISMATCH)
    return explain_mismatch(call);
  return error ? rgi_error_from(error, call, 0, NULL) : RG_SUCCESS;
}

int rgi_handshake(const char *call, rg_group mine, const rgi_handshake_offer *p,
                  rgi_handshake_peer *peer) {
  handshake_packet theirs = {0};
  uint64_t id;
  RGI_TRY(rgi_group_creation_begin(mine, p->tag, &id));
  int error = mine->me == 0 ? lead_handshake(call, mine, p, id, &theirs) : RG_SUCCESS;
  error = broadcast_packet(call, mine, p->tag, error, &theirs);
  *peer = (rgi_handshake_peer){.ints = theirs.ints};
  if (!error)
    error = unpack_packet(call, mine, &theirs, id, peer);
  if (error)
    rgi_handshake_peer_free(peer);
  return rgi_group_creation_result(id, error);
}

void rgi_handshake_peer_free(rgi_handshake_peer *peer) {
  rgi_members_drop(peer->members);
  free(peer->ints);
  *peer = (rgi_handshake_peer){0};
}
