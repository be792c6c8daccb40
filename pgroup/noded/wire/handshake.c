/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards and in ranks. The MAC is libsodium's crypto_auth (HMAC-SHA-512, cut to 32 bytes);
 * it is compared in constant time. All nodes' processors represent numbers in the same way. */
#include "noded/wire/handshake.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <sys/random.h>

_Static_assert(RGI_OVERLAY_KEY_BYTES == crypto_auth_KEYBYTES, "the key is one of crypto_auth");

static const char PROTOCOL[8] = "RGCALL1";

typedef struct {
  char protocol[8];
  int32_t from, to;
  unsigned char nonce[RGI_HANDSHAKE_NONCE_BYTES];
} call_message;

typedef struct {
  unsigned char nonce[RGI_HANDSHAKE_NONCE_BYTES], mac[crypto_auth_BYTES];
} answer_message;

typedef struct {
  unsigned char mac[crypto_auth_BYTES];
} proof_message;

enum { CALL, AWAIT_CALL, AWAIT_ANSWER, AWAIT_PROOF, DONE };

typedef enum { ROLE_CALLER = 1, ROLE_DAEMON } handshake_role;

/* --- MACs ----------------------------------------------------------------------------------- */

typedef struct {
  char protocol[8];
  int32_t role, from, to, zero;
  unsigned char caller_nonce[RGI_HANDSHAKE_NONCE_BYTES], daemon_nonce[RGI_HANDSHAKE_NONCE_BYTES];
} mac_text;

static mac_text text_of(const rgi_handshake *h, handshake_role role) {
  mac_text x = {.role = (int32_t)role, .from = h->from, .to = h->to};
  memcpy(x.protocol, PROTOCOL, sizeof x.protocol);
  memcpy(x.caller_nonce, h->caller_nonce, sizeof x.caller_nonce);
  memcpy(x.daemon_nonce, h->daemon_nonce, sizeof x.daemon_nonce);
  return x;
}

static void make_mac(const rgi_handshake *h, handshake_role role, unsigned char mac[]) {
  mac_text x = text_of(h, role);
  crypto_auth(mac, (const unsigned char *)&x, sizeof x, h->key);
}

static int is_mac(const rgi_handshake *h, handshake_role role, const unsigned char mac[]) {
  mac_text x = text_of(h, role);
  return crypto_auth_verify(mac, (const unsigned char *)&x, sizeof x, h->key) == 0;
}

/* Without fresh nonces no connection is made. */
static int draw_nonce(unsigned char nonce[]) {
  return sodium_init() >= 0 &&
         getrandom(nonce, RGI_HANDSHAKE_NONCE_BYTES, 0) == RGI_HANDSHAKE_NONCE_BYTES;
}

/* --- stages --------------------------------------------------------------------------------- */

/* All functions here return 1: the next stage has been reached; 0: not yet; -1: no. */

static int refuse_stranger(rgi_tcp *t) {
  t->error = EKEYREJECTED;
  return -1;
}

static int enter_stage(rgi_handshake *h, int stage, int fine) {
  h->stage = stage;
  return fine ? 1 : -1;
}

static int send_call(rgi_handshake *h, rgi_tcp *t) {
  call_message m = {.from = h->from, .to = h->to};
  if (!draw_nonce(h->caller_nonce))
    return -1;
  memcpy(m.protocol, PROTOCOL, sizeof m.protocol);
  memcpy(m.nonce, h->caller_nonce, sizeof m.nonce);
  return enter_stage(h, AWAIT_ANSWER, rgi_tcp_push_first(t, &m, sizeof m));
}

static int take_call(rgi_handshake *h, rgi_tcp *t) {
  call_message m;
  answer_message a;
  int came = rgi_tcp_take(t, &m, sizeof m);
  if (came <= 0)
    return came;
  if (memcmp(m.protocol, PROTOCOL, sizeof m.protocol) != 0 || m.to != h->to || m.from == h->to ||
      (m.from != RGI_OVERLAY_CLIENT && m.from != RGI_OVERLAY_GUARD &&
       (m.from < 0 || m.from >= h->nodes)))
    return refuse_stranger(t);
  h->from = m.from;
  memcpy(h->caller_nonce, m.nonce, sizeof m.nonce);
  if (!draw_nonce(h->daemon_nonce))
    return -1;
  memcpy(a.nonce, h->daemon_nonce, sizeof a.nonce);
  make_mac(h, ROLE_DAEMON, a.mac);
  return enter_stage(h, AWAIT_PROOF, rgi_tcp_push_first(t, &a, sizeof a));
}

static int take_answer(rgi_handshake *h, rgi_tcp *t) {
  answer_message a;
  proof_message p;
  int came = rgi_tcp_take(t, &a, sizeof a);
  if (came <= 0)
    return came;
  memcpy(h->daemon_nonce, a.nonce, sizeof a.nonce);
  if (!is_mac(h, ROLE_DAEMON, a.mac))
    return refuse_stranger(t);
  make_mac(h, ROLE_CALLER, p.mac);
  return enter_stage(h, DONE, rgi_tcp_push_first(t, &p, sizeof p));
}

static int take_proof(rgi_handshake *h, rgi_tcp *t) {
  proof_message p;
  int came = rgi_tcp_take(t, &p, sizeof p);
  if (came <= 0)
    return came;
  return is_mac(h, ROLE_CALLER, p.mac) ? enter_stage(h, DONE, 1) : refuse_stranger(t);
}

static int advance_stage(rgi_handshake *h, rgi_tcp *t) {
  switch (h->stage) {
  case CALL:
    return send_call(h, t);
  case AWAIT_CALL:
    return take_call(h, t);
  case AWAIT_ANSWER:
    return take_answer(h, t);
  default:
    return take_proof(h, t);
  }
}

/* --- the interface -------------------------------------------------------------------------- */

void rgi_handshake_call(rgi_handshake *h, const unsigned char key[], int from, int to) {
  *h = (rgi_handshake){.key = key, .from = from, .to = to, .stage = CALL};
}

void rgi_handshake_answer(rgi_handshake *h, const unsigned char key[], int mine, int nodes) {
  *h = (rgi_handshake){.key = key, .to = mine, .nodes = nodes, .stage = AWAIT_CALL};
}

int rgi_handshake_step(rgi_handshake *h, rgi_tcp *t) {
  int came = 1;
  while (came > 0 && h->stage != DONE)
    came = advance_stage(h, t);
  return came;
}
