/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards and in ranks. The MAC is libsodium's crypto_auth (HMAC-SHA-512, cut to 32 bytes);
 * it is compared in constant time. All nodes' processors represent numbers in the same way. */
#include "noded/wire/greeting.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <sys/random.h>

_Static_assert(RGI_OVERLAY_KEY_BYTES == crypto_auth_KEYBYTES, "the key is one of crypto_auth");

static const char PROTOCOL[8] = "RGCALL1";

typedef struct {
  char protocol[8];
  int32_t from, to;
  unsigned char nonce[RGI_GREETING_NONCE_BYTES];
} call_message;

typedef struct {
  unsigned char nonce[RGI_GREETING_NONCE_BYTES], mac[crypto_auth_BYTES];
} answer_message;

typedef struct {
  unsigned char mac[crypto_auth_BYTES];
} proof_message;

enum { CALL, AWAIT_CALL, AWAIT_ANSWER, AWAIT_PROOF, DONE };

typedef enum { ROLE_CALLER = 1, ROLE_DAEMON } greeting_role;

/* --- MACs ----------------------------------------------------------------------------------- */

typedef struct {
  char protocol[8];
  int32_t role, from, to, zero;
  unsigned char caller_nonce[RGI_GREETING_NONCE_BYTES], daemon_nonce[RGI_GREETING_NONCE_BYTES];
} mac_text;

static mac_text text_of(const rgi_greeting *greeting, greeting_role role) {
  mac_text text = {.role = (int32_t)role, .from = greeting->from, .to = greeting->to};
  memcpy(text.protocol, PROTOCOL, sizeof text.protocol);
  memcpy(text.caller_nonce, greeting->caller_nonce, sizeof text.caller_nonce);
  memcpy(text.daemon_nonce, greeting->daemon_nonce, sizeof text.daemon_nonce);
  return text;
}

static void make_mac(const rgi_greeting *greeting, greeting_role role, unsigned char mac[]) {
  mac_text text = text_of(greeting, role);
  crypto_auth(mac, (const unsigned char *)&text, sizeof text, greeting->key);
}

static int is_mac(const rgi_greeting *greeting, greeting_role role, const unsigned char mac[]) {
  mac_text text = text_of(greeting, role);
  return crypto_auth_verify(mac, (const unsigned char *)&text, sizeof text, greeting->key) == 0;
}

/* Without fresh nonces no connection is made. */
static int draw_nonce(unsigned char nonce[]) {
  return sodium_init() >= 0 &&
         getrandom(nonce, RGI_GREETING_NONCE_BYTES, 0) == RGI_GREETING_NONCE_BYTES;
}

/* --- stages --------------------------------------------------------------------------------- */

/* All functions here return 1: the next stage has been reached; 0: not yet; -1: no. */

static int refuse_stranger(rgi_tcp *tcp) {
  tcp->error = EKEYREJECTED;
  return -1;
}

static int enter_stage(rgi_greeting *greeting, int stage, int fine) {
  greeting->stage = stage;
  return fine ? 1 : -1;
}

static int send_call(rgi_greeting *greeting, rgi_tcp *tcp) {
  call_message call = {.from = greeting->from, .to = greeting->to};
  if (!draw_nonce(greeting->caller_nonce))
    return -1;
  memcpy(call.protocol, PROTOCOL, sizeof call.protocol);
  memcpy(call.nonce, greeting->caller_nonce, sizeof call.nonce);
  return enter_stage(greeting, AWAIT_ANSWER, rgi_tcp_push_first(tcp, &call, sizeof call));
}

static int take_call(rgi_greeting *greeting, rgi_tcp *tcp) {
  call_message call;
  answer_message answer;
  int came = rgi_tcp_take(tcp, &call, sizeof call);
  if (came <= 0)
    return came;
  if (memcmp(call.protocol, PROTOCOL, sizeof call.protocol) != 0 || call.to != greeting->to ||
      call.from == greeting->to ||
      (call.from != RGI_OVERLAY_CLIENT && call.from != RGI_OVERLAY_GUARD &&
       (call.from < 0 || call.from >= greeting->nodes)))
    return refuse_stranger(tcp);
  greeting->from = call.from;
  memcpy(greeting->caller_nonce, call.nonce, sizeof call.nonce);
  if (!draw_nonce(greeting->daemon_nonce))
    return -1;
  memcpy(answer.nonce, greeting->daemon_nonce, sizeof answer.nonce);
  make_mac(greeting, ROLE_DAEMON, answer.mac);
  return enter_stage(greeting, AWAIT_PROOF, rgi_tcp_push_first(tcp, &answer, sizeof answer));
}

static int take_answer(rgi_greeting *greeting, rgi_tcp *tcp) {
  answer_message answer;
  proof_message proof;
  int came = rgi_tcp_take(tcp, &answer, sizeof answer);
  if (came <= 0)
    return came;
  memcpy(greeting->daemon_nonce, answer.nonce, sizeof answer.nonce);
  if (!is_mac(greeting, ROLE_DAEMON, answer.mac))
    return refuse_stranger(tcp);
  make_mac(greeting, ROLE_CALLER, proof.mac);
  return enter_stage(greeting, DONE, rgi_tcp_push_first(tcp, &proof, sizeof proof));
}

static int take_proof(rgi_greeting *greeting, rgi_tcp *tcp) {
  proof_message proof;
  int came = rgi_tcp_take(tcp, &proof, sizeof proof);
  if (came <= 0)
    return came;
  return is_mac(greeting, ROLE_CALLER, proof.mac) ? enter_stage(greeting, DONE, 1)
                                                  : refuse_stranger(tcp);
}

static int advance_stage(rgi_greeting *greeting, rgi_tcp *tcp) {
  switch (greeting->stage) {
  case CALL:
    return send_call(greeting, tcp);
  case AWAIT_CALL:
    return take_call(greeting, tcp);
  case AWAIT_ANSWER:
    return take_answer(greeting, tcp);
  default:
    return take_proof(greeting, tcp);
  }
}

/* --- the interface -------------------------------------------------------------------------- */

void rgi_greeting_call(rgi_greeting *greeting, const unsigned char key[], int from, int to) {
  *greeting = (rgi_greeting){.key = key, .from = from, .to = to, .stage = CALL};
}

void rgi_greeting_answer(rgi_greeting *greeting, const unsigned char key[], int mine, int nodes) {
  *greeting = (rgi_greeting){.key = key, .to = mine, .nodes = nodes, .stage = AWAIT_CALL};
}

int rgi_greeting_step(rgi_greeting *greeting, rgi_tcp *tcp) {
  int came = 1;
  while (came > 0 && greeting->stage != DONE)
    came = advance_stage(greeting, tcp);
  return came;
}
