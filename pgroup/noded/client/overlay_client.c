/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in ranks. A fact goes to the daemon in one write of a few bytes to a pipe: such a write is
 * whole or not done at all, so ranks may write at the same time, and one that is killed leaves no
 * half of a fact. What the daemon learns is read from the arena. */
#include "noded/client/overlay_client.h"

#include <errno.h>
#include <regroup/error.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "noded/daemon/given_up.h"
#include "shm/process.h"
#include "shm/revocation.h"

static struct {
  rgi_overlay *overlay;
  int pipe;
} here = {.pipe = -1};

/* The only process of a node has no guard but the daemon. Threads that wait look in turns. */
static void look_at_daemon(double now) {
  static _Atomic double looked;
  static atomic_flag looks = ATOMIC_FLAG_INIT;
  if (now - atomic_load(&looked) < RGI_GIVEN_UP_SECONDS || atomic_flag_test_and_set(&looks))
    return;
  atomic_store(&looked, now);
  if (here.overlay && rgi_given_up_step(here.overlay)) {
    rgi_given_up_tell(here.overlay);
    kill(getpid(), SIGKILL);
  }
  atomic_flag_clear(&looks);
}

void rgi_overlay_use(rgi_overlay *overlay, int pipe) {
  here.overlay = overlay;
  here.pipe = pipe;
  rgi_process_look = rgi_process_view.n == 1 ? look_at_daemon : NULL;
}

void rgi_overlay_close(void) {
  rgi_process_look = NULL;
  if (here.pipe >= 0)
    close(here.pipe);
  here.pipe = -1;
  here.overlay = NULL;
}

int rgi_overlay_exists(void) {
  return here.overlay != NULL;
}

rgi_overlay *rgi_overlay_get(void) {
  return here.overlay;
}

/* The limit, until the others give the node up; the limit again, until a part without a majority
 * ends; and some seconds for the decision itself. */
double rgi_overlay_decision_seconds(void) {
  return 5 + (here.overlay ? 2 * here.overlay->limit : 0);
}

/* The pipe is full only for a moment, unless the daemon is dead: then this process will be, soon.
 */
void rgi_overlay_tell(rgi_overlay_fact_kind kind, uint64_t value) {
  rgi_overlay_fact fact = {kind, value};
  for (int i = 0; here.pipe >= 0 && i < 10000; i++) {
    if (write(here.pipe, &fact, sizeof fact) == (ssize_t)sizeof fact || errno != EAGAIN)
      return;
    rgi_clock_sleep(1e-3);
  }
}

int rgi_overlay_all_left(void) {
  for (int i = 0; here.overlay && i < here.overlay->nodes; i++)
    if (i != here.overlay->mine && !atomic_load(&rgi_overlay_nodes(here.overlay)[i].left))
      return 0;
  return 1;
}

/* The daemon hears of it first: when this process is killed in between, no node is left out. */
void rgi_overlay_revoke(uint64_t number) {
  if (rgi_process_view.journal && !rgi_revocation_has(number))
    rgi_overlay_tell(RGI_FACT_REVOKED, number);
  rgi_revocation_note_number(&rgi_process_view, number);
}

int rgi_overlay_revoke_group(uint64_t context, int is_local) {
  if (!is_local && rgi_process_view.journal && !rgi_revocation_has(context))
    rgi_overlay_tell(RGI_FACT_REVOKED, context);
  return rgi_revocation_note(&rgi_process_view, context);
}
