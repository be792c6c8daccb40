/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "noded/wire/dial.h"

#include <errno.h>
#include <poll.h>

#include "base/clock.h"

/* Between an address that does not answer and the next one. */
#define PAUSE_SECONDS 0.01

static void try_next_address(rgi_dial *d, rgi_tcp *t) {
  const rgi_overlay_node *n = d->node;
  int last = d->tried > 0 ? d->address : -1;
  d->tried = rgi_clock_now();
  d->greets = 0;
  rgi_tcp_close(t);
  if (n->n == 0)
    return;
  d->address = d->proven && last != d->proven - 1 ? d->proven - 1 : d->next++ % n->n;
  rgi_tcp_dial(t, n->address[d->address], n->port, d->limit);
}

/* 1: the daemon has proved who it is; 0: not yet; -1: it is not there. */
static int await_answer(rgi_dial *d, rgi_tcp *t) {
  if (!d->greets) {
    int connected = rgi_tcp_dialed(t);
    if (connected < 0 && t->error == ECONNREFUSED && d->proven == d->address + 1)
      d->refused = 1;
    if (connected <= 0)
      return connected;
    d->greets = 1;
    rgi_handshake_call(&d->handshake, d->key, d->from, d->to);
  }
  int answered = rgi_handshake_step(&d->handshake, t);
  if (answered > 0)
    d->proven = d->address + 1;
  return answered;
}

int rgi_dial_step(rgi_dial *d, rgi_tcp *t) {
  int answered = t->fd < 0 ? 0 : await_answer(d, t);
  if (answered > 0)
    return 1;
  if (answered < 0)
    rgi_tcp_close(t);
  double answer = d->answer > 0 ? d->answer : RGI_DIAL_ANSWER_SECONDS;
  if (rgi_clock_now() - d->tried > (t->fd < 0 ? PAUSE_SECONDS : answer))
    try_next_address(d, t);
  return 0;
}

short rgi_dial_awaits(const rgi_dial *d) {
  return d->greets ? POLLIN : POLLOUT;
}
