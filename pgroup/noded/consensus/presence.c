/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards. Each node watches those with which it is to be connected. A node that has a
 * motive (a node is gone or silent, a path is cut and needed, or a decision was begun and not heard
 * to have been made) becomes the coordinator of a ballot, unless it has heard of another
 * coordinator lately:
 *
 *   IDLE
 *   PREPARING  The coordinator asks all present nodes for promises (voting.h), again every
 *              ASK_SECONDS. With its promise a node says what it knows of the others.
 *   ACCEPTING  The votes suffice (ballot.h). The coordinator sends the set to all that have
 *              promised. When all of them have accepted, the decision is made, and facts tell all
 *              nodes (daemon.h).
 *
 * A quorum both suffices for promises and decides. Any two quorums for the same number have a
 * voter in common that lives, or whose vote nobody who goes on has used: two majorities; a majority
 * and a half; two halves by the lowest node, or by the node that has the vote of the witness; and
 * "all that are not gone" includes every voter that lives. It is not enough that no voter of
 * this ballot would go on by the accepted set: a node that has not voted may have applied it. The
 * set gives way only where all that would go on by it are gone (rgi_ballot_set_to_propose).
 *
 * The coordinator of a part without a quorum waits for the others for the limit, and then tells its
 * voters that they are to end (PART). A node obeys if that ballot is the last one that it has
 * promised, and it hears no node of another part.
 *
 * A node that does not vouch for another one has read all that came from it: what the other one may
 * have told of a decision is known before the other one is taken for gone. */
#include "noded/consensus/presence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "noded/consensus/ballot.h"
#include "noded/consensus/voting.h"
#include "noded/consensus/witness.h"
#include "noded/network/channel.h"
#include "noded/network/connection.h"

#define ASK_SECONDS 0.25    /* between questions of a coordinator */
#define ANSWER_SECONDS 0.4  /* the time for an answer */
#define ROUND_SECONDS 1.0   /* of asking, then all votes are counted anew */
#define ACCEPT_SECONDS 1.0  /* all accept within, or there is a new ballot */
#define FOREIGN_SECONDS 1.2 /* so long another coordinator is left alone */
#define ORDER_SECONDS 0.01  /* between the beginnings of several that find out at once */
#define ORDER_MOST 32
#define GRACE_SECONDS 1.0 /* beyond the limit, until a part without a quorum ends */
#define PROBE_PART 8      /* of the limit, between indirect questions */
#define SUSPECT_PART 3    /* of the limit, until they begin */
#define RETURN_PART 2     /* of the limit: a node that was quiet so long has as long to return */
#define LOOK_PART 40      /* of the limit, at least, between looks at all nodes in quiet times */
#define LOOK_SECONDS 0.1  /* at most */
#define PROOF_PART 2      /* of the limit: a node that heard this one so lately has not left */

enum {
  MESSAGE_PREPARE = RGI_PRESENCE_MESSAGES,
  MESSAGE_PROMISE,
  MESSAGE_ACCEPT,
  MESSAGE_ACCEPTED,
  MESSAGE_PART
};

typedef enum { IDLE, PREPARING, ACCEPTING } ballot_state;

static struct {
  const rgi_overlay *overlay;
  const unsigned char *lost;
  rgi_presence_events events;
  uint32_t number; /* decisions made */
  double *refused; /* for each node: when a connection was refused; 0: never */
  double *quiet;   /* for each node: when nothing had last come from it for a while */
  double waits;    /* as told by the last step */
  double probed;   /* when indirect questions were last sent */
  double looked;   /* when all nodes were last looked at */
  int stirred;     /* something has come since */
  /* As a voter: */
  rgi_voting voting; /* 0: none */
  unsigned char *accepted_set;
  double accepted_at;
  /* As a coordinator: */
  ballot_state state;
  rgi_ballot votes;
  int64_t ballot, highest; /* the present one; the highest one heard of */
  int64_t taken;           /* the latest ballot of which a voter has accepted a set; or none */
  unsigned char *set, *taken_set, *has_accepted;
  double begun, asked;    /* this ballot; the last question */
  double motive, foreign; /* since when there is a motive; the last word of another coordinator */
  double idle_until;      /* after a ballot that took nobody away */
  double alone;           /* since when there is no quorum; 0: there is */
} here;

static int node_count(void) {
  return here.overlay->nodes;
}

static int is_other(int node) {
  return node != here.overlay->mine && !here.lost[node];
}

/* --- evidence --------------------------------------------------------------------------------- */

/* Of a node that is watched. */
static int is_refused(int node) {
  double heard = rgi_connection_heard(node);
  return heard > 0 && here.refused[node] > heard;
}

static double unheard(int node) {
  double heard = rgi_connection_heard(node);
  return heard > 0 ? rgi_clock_now() - heard : 0;
}

/* What was last heard may have been just before the next ping. */
static int is_silent(int node) {
  return here.overlay->limit > 0 &&
         unheard(node) >= here.overlay->limit + rgi_connections_ping_seconds();
}

/* The question begins a little earlier, to have its answers in time. */
static int is_nearly_silent(int node) {
  return here.overlay->limit > 0 && unheard(node) >= here.overlay->limit;
}

static int is_heard(int node) {
  return rgi_connection_was_heard(node) && !is_nearly_silent(node);
}

/* The node is heard by way of others, and processes of this node wait. A path that is whole again,
 * and a node that can be reached again, have time for a connection. */
static int is_cut(int node) {
  double limit = here.overlay->limit, down = rgi_connection_down_since(node);
  if (limit <= 0 || down <= 0)
    return 0;
  double now = rgi_clock_now();
  return now - down >= limit + rgi_connections_ping_seconds() &&
         now - here.quiet[node] >= limit / RETURN_PART && here.waits >= limit && !is_refused(node);
}

static void note_quiet(void) {
  for (int i = 0; i < node_count(); i++)
    if (unheard(i) > here.overlay->limit / RETURN_PART)
      here.quiet[i] = rgi_clock_now();
}

static unsigned char evidence_on(int node) {
  return (unsigned char)((rgi_connection_is_up(node) ? RGI_BALLOT_VOUCHED : 0) |
                         (is_refused(node) ? RGI_BALLOT_REFUSED : 0) |
                         (is_silent(node) ? RGI_BALLOT_SILENT : 0) |
                         (is_heard(node) ? RGI_BALLOT_HEARD : 0) |
                         (is_cut(node) ? RGI_BALLOT_CUT : 0));
}

static void write_evidence(unsigned char row[]) {
  for (int i = 0; i < node_count(); i++)
    row[i] = is_other(i) ? evidence_on(i) : 0;
}

/* A node with which something is to be done; this one: a decision was begun, and may have been
 * made; -1: nothing. Such nodes are watched until that is done. */
static int find_motive(void) {
  int found = -1;
  for (int i = 0; i < node_count(); i++)
    if (is_other(i) && (is_refused(i) || is_nearly_silent(i) || is_cut(i))) {
      rgi_connection_make(i);
      found = found < 0 ? i : found;
    }
  if (found >= 0)
    return found;
  return here.voting.accepted && rgi_clock_now() - here.accepted_at > FOREIGN_SECONDS
             ? here.overlay->mine
             : -1;
}

/* Nodes that are not heard straight are asked by way of others. */
static void probe_silent(void) {
  double now = rgi_clock_now(), limit = here.overlay->limit;
  if (limit <= 0 || now - here.probed < limit / PROBE_PART)
    return;
  here.probed = now;
  for (int i = 0; i < node_count(); i++)
    if (is_other(i) && rgi_connection_heard(i) > 0 &&
        (unheard(i) > limit / SUSPECT_PART || rgi_connection_down_since(i) > 0))
      rgi_channel_probe(i);
}

/* --- messages --------------------------------------------------------------------------------- */

/* sets: so many bytes for each node follow. */
static void send_message(int to, uint32_t kind, int64_t ballot, const unsigned char *sets[],
                         int n) {
  size_t nodes = (size_t)node_count();
  unsigned char *m = malloc(sizeof(rgi_ballot_message) + (size_t)n * nodes);
  rgi_ballot_message head = {.number = here.number,
                             .nodes = (uint32_t)nodes,
                             .ballot = ballot,
                             .accepted = here.voting.accepted};
  if (!m)
    return;
  memcpy(m, &head, sizeof head);
  for (int i = 0; i < n; i++)
    memcpy(m + sizeof head + (size_t)i * nodes, sets[i], nodes);
  rgi_channel_send(to, kind, m, sizeof head + (size_t)n * nodes);
  free(m);
}

static void send_to_voters(uint32_t kind, const unsigned char *set) {
  for (int i = 0; i < node_count(); i++)
    if (is_other(i) && here.votes.voted[i])
      send_message(i, kind, here.ballot, &set, set != NULL);
}

/* --- the coordinator -------------------------------------------------------------------------- */

static void go_idle(void) {
  here.state = IDLE;
  here.alone = 0;
  rgi_ballot_close(&here.votes);
}

static void take_accepted(int64_t accepted, const unsigned char *set) {
  if (rgi_voting_take(&here.taken, accepted))
    memcpy(here.taken_set, set, (size_t)node_count());
}

/* Its own vote is like those of others. */
static void vote_here(void) {
  int mine = here.overlay->mine;
  here.votes.voted[mine] = 1;
  write_evidence(here.votes.seen + (size_t)mine * (size_t)node_count());
  take_accepted(here.voting.accepted, here.accepted_set);
}

/* All are asked again, since evidence grows old; but those to which the last question is still on
 * its way. */
static void ask_all(void) {
  double now = rgi_clock_now();
  for (int i = 0; i < node_count(); i++)
    if (is_other(i) && (here.asked < here.begun || rgi_channel_is_idle(i)))
      send_message(i, MESSAGE_PREPARE, here.ballot, NULL, 0);
  here.asked = now;
}

static void begin_ballot(void) {
  int n = node_count();
  if (!rgi_ballot_open(&here.votes, n, here.lost)) {
    rgi_ballot_close(&here.votes);
    return;
  }
  here.state = PREPARING;
  here.ballot = here.highest = (here.highest / n + 1) * n + here.overlay->mine;
  rgi_voting_promise(&here.voting, here.ballot);
  here.taken = 0;
  here.begun = rgi_clock_now();
  vote_here();
  ask_all();
}

/* Gives the ballot up where this node has promised a later one. */
static void begin_accepting(void) {
  if (!rgi_voting_accept(&here.voting, here.ballot)) {
    go_idle();
    return;
  }
  rgi_ballot_set_to_propose(&here.votes, here.taken ? here.taken_set : NULL, here.set);
  memset(here.has_accepted, 0, (size_t)node_count());
  here.state = ACCEPTING;
  here.alone = 0;
  here.begun = here.accepted_at = rgi_clock_now();
  memcpy(here.accepted_set, here.set, (size_t)node_count());
  here.has_accepted[here.overlay->mine] = 1;
  send_to_voters(MESSAGE_ACCEPT, here.set);
}

static void end_part(void) {
  static char why[160];
  int n = 0, present = 0;
  for (int i = 0; i < node_count(); i++) {
    n += here.state != IDLE && here.votes.voted[i];
    present += !here.lost[i];
  }
  if (n)
    snprintf(why, sizeof why,
             "only %d of the job's %d nodes can be reached from here, which is no majority", n,
             present);
  else
    snprintf(why, sizeof why, "no majority of the job's %d nodes can be reached from here",
             present);
  here.events.ended(why);
}

/* A part without a quorum waits for the others to be heard again. */
static void endure_alone(void) {
  double now = rgi_clock_now();
  here.alone = here.alone > 0 ? here.alone : now;
  if (now - here.alone < here.overlay->limit + GRACE_SECONDS)
    return;
  send_to_voters(MESSAGE_PART, here.votes.voted);
  end_part();
}

/* Half of the nodes: one of the halves goes on. */
static rgi_ballot_result break_tie(void) {
  int claim = here.overlay->witness[0] ? rgi_witness_ask(here.overlay->witness, here.overlay->job,
                                                         here.number, here.overlay->mine)
                                       : rgi_ballot_lowest(&here.votes);
  return claim < node_count() && rgi_ballot_is_quorum(&here.votes, claim) ? RGI_BALLOT_QUORUM
                                                                          : RGI_BALLOT_NO_QUORUM;
}

static void judge_votes(void) {
  here.votes.late = rgi_clock_now() - here.begun > ANSWER_SECONDS;
  vote_here();
  rgi_ballot_result result = rgi_ballot_judge(&here.votes, here.set);
  if (result == RGI_BALLOT_TIE)
    result = break_tie();
  if (result == RGI_BALLOT_QUORUM || (result == RGI_BALLOT_NOTHING && here.taken)) {
    begin_accepting();
  } else if (result == RGI_BALLOT_NOTHING) {
    here.idle_until = rgi_clock_now() + ACCEPT_SECONDS;
    go_idle();
  } else if (result == RGI_BALLOT_NO_QUORUM) {
    endure_alone();
  } else if (rgi_clock_now() - here.begun > ROUND_SECONDS) { /* a missing one has been heard */
    here.alone = 0;
  }
}

static int have_all_accepted(void) {
  for (int i = 0; i < node_count(); i++)
    if (here.votes.voted[i] && !here.has_accepted[i])
      return 0;
  return 1;
}

static void announce_decision(void) {
  go_idle();
  here.events.decided(here.number, here.set);
}

/* What a voter said may not hold any more, and the voter may be lost: the votes are counted anew.
 */
static void repeat_ballot(void) {
  rgi_ballot_close(&here.votes);
  here.state = IDLE;
  begin_ballot();
}

static void coordinate(void) {
  double now = rgi_clock_now();
  if (here.state == PREPARING) {
    if (now - here.asked >= ASK_SECONDS)
      ask_all();
    judge_votes();
  }
  if (here.state == PREPARING && now - here.begun > ROUND_SECONDS)
    repeat_ballot();
  if (here.state == ACCEPTING && have_all_accepted())
    announce_decision();
  else if (here.state == ACCEPTING && now - here.begun > ACCEPT_SECONDS)
    go_idle();
}

/* --- messages from others --------------------------------------------------------------------- */

static void note_ballot(int64_t ballot) {
  here.highest = ballot > here.highest ? ballot : here.highest;
}

static void receive_prepare(int from, int64_t ballot) {
  unsigned char *row = malloc((size_t)node_count());
  if (!row)
    return;
  if (rgi_voting_promise(&here.voting, ballot)) {
    here.foreign = rgi_clock_now();
    if (here.state != IDLE)
      go_idle();
  }
  write_evidence(row);
  send_message(from, MESSAGE_PROMISE, here.voting.promised,
               (const unsigned char *[]){row, here.accepted_set}, 2);
  free(row);
}

/* A promise of a later ballot: another coordinator is ahead. */
static void receive_promise(int from, const rgi_ballot_message *message,
                            const unsigned char *sets) {
  size_t n = (size_t)node_count();
  if (here.state != PREPARING || message->ballot != here.ballot) {
    if (message->ballot > here.ballot && here.state != IDLE) {
      here.foreign = rgi_clock_now();
      go_idle();
    }
    return;
  }
  here.votes.voted[from] = 1;
  memcpy(here.votes.seen + (size_t)from * n, sets, n);
  take_accepted(message->accepted, sets + n);
}

static void receive_accept(int from, int64_t ballot, const unsigned char *set) {
  if (!rgi_voting_accept(&here.voting, ballot))
    return;
  here.foreign = here.accepted_at = rgi_clock_now();
  memcpy(here.accepted_set, set, (size_t)node_count());
  send_message(from, MESSAGE_ACCEPTED, ballot, NULL, 0);
}

/* It may be late: a node that hears another part, or has promised a later ballot, goes on. */
static void receive_part(int64_t ballot, const unsigned char *part) {
  for (int i = 0; i < node_count(); i++)
    if (is_other(i) && !part[i] && is_heard(i) && !is_refused(i))
      return;
  if (ballot == here.voting.promised)
    end_part();
}

static size_t sets_of(uint32_t kind) {
  return kind == MESSAGE_PROMISE ? 2 : kind == MESSAGE_ACCEPT || kind == MESSAGE_PART ? 1 : 0;
}

/* Messages about another decision than the next one are late, or early: the facts come first, and
 * coordinators ask again. */
void rgi_presence_receive(int from, uint32_t kind, const void *data, size_t bytes) {
  const unsigned char *sets = (const unsigned char *)data + sizeof(rgi_ballot_message);
  rgi_ballot_message message;
  if (bytes < sizeof message)
    return;
  memcpy(&message, data, sizeof message);
  if (message.number != here.number || message.nodes != (uint32_t)node_count() ||
      bytes != sizeof message + sets_of(kind) * message.nodes || message.ballot < 0 ||
      message.ballot > INT64_MAX / 2)
    return;
  note_ballot(message.ballot);
  if (kind == MESSAGE_PREPARE)
    receive_prepare(from, message.ballot);
  else if (kind == MESSAGE_PROMISE)
    receive_promise(from, &message, sets);
  else if (kind == MESSAGE_ACCEPT)
    receive_accept(from, message.ballot, sets);
  else if (kind == MESSAGE_ACCEPTED && here.state == ACCEPTING && message.ballot == here.ballot)
    here.has_accepted[from] = 1;
  else if (kind == MESSAGE_PART)
    receive_part(message.ballot, sets);
  if (here.state != IDLE)
    coordinate();
}

/* --- the owner's calls ------------------------------------------------------------------------ */

/* A daemon that has not heard this node for long may have given it up, come to the end and left:
 * then its refusal proves nothing. */
void rgi_presence_refused(int node) {
  double limit = here.overlay->limit;
  if (limit <= 0 || rgi_clock_now() - rgi_connection_confirmed(node) < limit / PROOF_PART)
    here.refused[node] = rgi_clock_now();
  here.stirred = 1;
}

void rgi_presence_learn(uint32_t decisions) {
  if (decisions <= here.number)
    return;
  here.number = decisions;
  here.voting = (rgi_voting){0};
  here.motive = here.foreign = 0;
  if (here.state != IDLE)
    go_idle();
}

/* The neighbours of a node in the overlay find out at the same time: they begin one after another,
 * the nearest ones first. */
static double order_delay(int node) {
  int n = node_count(), mine = here.overlay->mine;
  int after = (mine - node + n) % n, before = (node - mine + n) % n;
  for (int k = 0; 1 << k < n; k++)
    if (before == 1 << k || after == 1 << k)
      return (2 * k + (before != 1 << k)) * ORDER_SECONDS;
  return ORDER_MOST * ORDER_SECONDS;
}

/* In quiet times not all nodes are looked at in each step. */
static int is_to_look(void) {
  double part = here.overlay->limit / LOOK_PART;
  return here.stirred || here.motive > 0 || here.state != IDLE || here.voting.accepted ||
         rgi_clock_now() - here.looked >= (part > 0 && part < LOOK_SECONDS ? part : LOOK_SECONDS);
}

void rgi_presence_step(double waits) {
  double now = rgi_clock_now();
  here.waits = waits;
  if (!is_to_look())
    return;
  here.looked = now;
  here.stirred = 0;
  note_quiet();
  probe_silent();
  int motive = find_motive();
  if (motive < 0) {
    here.motive = 0;
    if (here.state == PREPARING)
      go_idle();
  } else if (here.motive == 0) {
    here.motive = now;
  }
  if (here.state == IDLE && motive >= 0 && now - here.motive >= order_delay(motive) &&
      now - here.foreign > FOREIGN_SECONDS && now > here.idle_until)
    begin_ballot();
  if (here.state != IDLE)
    coordinate();
}

double rgi_presence_timeout(void) {
  return here.motive > 0 || here.state != IDLE ? ORDER_SECONDS : -1;
}

int rgi_presence_is_disturbed(void) {
  double limit = here.overlay->limit;
  if (here.motive > 0 || here.state != IDLE)
    return 1;
  for (int i = 0; i < node_count() && limit > 0; i++)
    if (is_other(i) && (rgi_connection_down_since(i) > 0 || unheard(i) > limit / SUSPECT_PART))
      return 1;
  return 0;
}

int rgi_presence_open(const rgi_overlay *overlay, const unsigned char lost[],
                      const rgi_presence_events *events) {
  size_t n = (size_t)overlay->nodes;
  memset(&here, 0, sizeof here);
  here.overlay = overlay;
  here.lost = lost;
  here.events = *events;
  here.refused = calloc(n, sizeof *here.refused);
  here.quiet = calloc(n, sizeof *here.quiet);
  here.accepted_set = calloc(n, 1);
  here.set = calloc(n, 1);
  here.taken_set = calloc(n, 1);
  here.has_accepted = calloc(n, 1);
  return here.refused && here.quiet && here.accepted_set && here.set && here.taken_set &&
         here.has_accepted;
}

void rgi_presence_close(void) {
  rgi_ballot_close(&here.votes);
  free(here.refused);
  free(here.quiet);
  free(here.accepted_set);
  free(here.set);
  free(here.taken_set);
  free(here.has_accepted);
  memset(&here, 0, sizeof here);
}
