/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "noded/wire/dial.h"

#include <errno.h>
#include <poll.h>

#include "base/clock.h"

/* Between an address that does not answer and the next one. */
#define PAUSE_SECONDS 0.01

static void try_next_address(rgi_dial *dial, rgi_tcp *tcp) {
  const rgi_overlay_node *record = dial->node;
  int last = dial->tried > 0 ? dial->address : -1;
  dial->tried = rgi_clock_now();
  dial->greets = 0;
  rgi_tcp_close(tcp);
  if (record->n == 0)
    return;
  dial->address =
      dial->proven && last != dial->proven - 1 ? dial->proven - 1 : dial->next++ % record->n;
  rgi_tcp_dial(tcp, record->address[dial->address], record->port, dial->limit);
}

/* 1: the daemon has proved who it is; 0: not yet; -1: it is not there. */
static int await_answer(rgi_dial *dial, rgi_tcp *tcp) {
  if (!dial->greets) {
    int connected = rgi_tcp_dialed(tcp);
    if (connected < 0 && tcp->error == ECONNREFUSED && dial->proven == dial->address + 1)
      dial->refused = 1;
    if (connected <= 0)
      return connected;
    dial->greets = 1;
    rgi_greeting_call(&dial->greeting, dial->key, dial->from, dial->to);
  }
  int answered = rgi_greeting_step(&dial->greeting, tcp);
  if (answered > 0)
    dial->proven = dial->address + 1;
  return answered;
}

int rgi_dial_step(rgi_dial *dial, rgi_tcp *tcp) {
  int answered = tcp->fd < 0 ? 0 : await_answer(dial, tcp);
  if (answered > 0)
    return 1;
  if (answered < 0)
    rgi_tcp_close(tcp);
  double answer = dial->answer > 0 ? dial->answer : RGI_DIAL_ANSWER_SECONDS;
  if (rgi_clock_now() - dial->tried > (tcp->fd < 0 ? PAUSE_SECONDS : answer))
    try_next_address(dial, tcp);
  return 0;
}

short rgi_dial_awaits(const rgi_dial *dial) {
  return dial->greets ? POLLIN : POLLOUT;
}
