/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards.
 *
 * The nodes of a group, in the order of its list, form a binary tree; node 0 is the root. A node
 * combines what its members propose with the proposals from below, and sends the result to its
 * parent when all below it have voted or are lost. The root decides when it has all proposals; the
 * decision goes down the same ways. A node whose parent is lost sends to the nearest ancestor that
 * lives, or else to the present root: the first node of the list that lives, as far as it knows. A
 * decision that is already made answers a proposal that comes late.
 *
 * The root may be lost when some nodes have its decision and others have not. A node that comes to
 * be the root (take_over) must not decide anything else. So each root has a ballot (voting.h),
 * whose number is its place in the list; the first one needs no promises:
 *
 *  1. It sends PREPARE to all nodes that it believes alive, and they PROMISE.
 *  2. When all of them have promised or are lost, it takes over the decision that it has been told.
 *     Without one it waits for the proposals, which the nodes now send to it, and decides itself.
 *  3. It sends the decision to all nodes. A root that has a decision when it takes over begins
 * here.
 *
 * A node that accepts a decision tells its ranks at once: each node is a deciding set by itself, as
 * long as it lives, and the promises of all that live are promises of each. A root with a decision
 * that no surviving node has heard, and that is itself lost, does no harm.
 *
 * An agreement in which every node votes is forgotten when all have its decision. DONE and FORGET
 * see to that, after the ranks have been told:
 *
 *  1. A node that has the decision answers with DONE the node that has sent it (source). Under the
 *     first root (ballot 0) it does so when all living nodes below it that have voted have done so
 *     too; then DONE speaks for all of them. A root that has taken over has sent the decision to
 *     each node by itself, and each answers for itself, at once.
 *  2. When no DONE is missing the root sends FORGET to the nodes to which it has sent the decision,
 *     and so does each node that receives FORGET. It drops the agreement.
 *  3. A node whose source is lost before FORGET comes proposes again, as if it had no decision. It
 *     gets DECISION or FORGET in answer. A lost node counts as done, not so the nodes below it:
 *     each of them has lost its source or has none, and proposes again.
 *
 * So a node that still has an agreement waits for an answer of a node before it in the list, or is
 * the root, which waits for nodes behind it: there is always an end.
 *
 * Why nothing is decided anew: FORGET is sent when all living nodes that have voted have the
 * decision, and their ranks too. So no living rank waits for this round any more; nor for an
 * earlier one of the group, since a rank votes in a round when it has the decision of the one
 * before. What still comes about these rounds is late: a message that has been under way, the
 * repeated proposal of a rank that has died or knows the decision, a new root that FORGET has not
 * reached. For each group a node remembers the latest round that it has forgotten. It drops what
 * its own ranks propose for rounds up to that one (the memory of such a round may be in other use),
 * answers messages about them with FORGET, and the sender forgets too. A new root that has no
 * decision yet, and gets FORGET, has no ranks that wait. The memory is for the FORGOTTEN groups
 * that were used last: a message would have to be under way while agreements of so many other
 * groups end.
 *
 * Agreements on the first list of dead are kept until a later round of the same group is forgotten:
 * a node may propose much later.
 *
 * Channels keep the order of messages; every node learns of every lost node sooner or later
 * (daemon.c), and then each agreement is advanced anew. Two nodes may for a while disagree about
 * which one is the root: the ballots decide. */
#include "noded/consensus/agreement.h"

#include <stdlib.h>
#include <string.h>

#include "noded/consensus/voting.h"
#include "noded/network/channel.h"
#include "shm/arena.h"

enum {
  MESSAGE_PROPOSAL = 2,
  MESSAGE_DECISION,
  MESSAGE_PREPARE,
  MESSAGE_PROMISE,
  MESSAGE_DONE, /* the last two: only an agreement_notice */
  MESSAGE_FORGET
}; /* kinds of messages on the channels */

/* So many groups' forgotten rounds are remembered. */
#define FORGOTTEN 1024

#define NO_SOURCE (-1)
#define NO_ROOT (-1)

typedef struct {
  uint64_t group;
  uint32_t round; /* FORGET: and all before */
  int32_t ballot; /* DONE: the root whose decision this is */
} agreement_notice;

typedef struct {
  uint64_t group, used; /* used: when, counted in changes; 0: never */
  uint32_t round;       /* forgotten, and all before */
} forgotten_group;

typedef struct group_agreement {
  struct group_agreement *next;
  rgi_agreement_proposal *proposal; /* all proposals so far, combined; or the decision */
  int me;                           /* this node's place in the group's list */
  int decided;
  int proposed_to;             /* the place to which this node has sent the proposal, or -1 */
  int changed;                 /* whether the proposal has changed since */
  rgi_voting voting;           /* ballots: the roots' places */
  int64_t taken;               /* a root that prepares: whose decision it has taken over; or none */
  int told;                    /* the ranks that wait here have the decision */
  int preparing;               /* as a root that has taken over */
  int source;                  /* the place from which the decision came; me: made here */
  int reported;                /* the source has DONE */
  int over;                    /* is to be dropped */
  unsigned char *to;           /* for each place: is to get the decision */
  unsigned char *answered;     /* for each place: has promised */
  unsigned char *done;         /* for each place: is known to have the decision */
  uint64_t round_at, flags_at; /* of the ranks that wait here; 0: none */
} group_agreement;

static group_agreement *agreements;
static forgotten_group *forgotten; /* FORGOTTEN of them; NULL: none yet */

static struct {
  int nodes, mine;           /* of the job; this node's index */
  const unsigned char *lost; /* for each node */
  const rgi_process_table *table;
} agreement_node;

/* --- agreements ------------------------------------------------------------------------------ */

static int index_of(const group_agreement *agreement, int node) {
  for (int i = 0; i < agreement->proposal->nodes; i++)
    if (rgi_agreement_nodes(agreement->proposal)[i] == node)
      return i;
  return -1;
}

static int node_at(const group_agreement *agreement, int i) {
  return rgi_agreement_nodes(agreement->proposal)[i];
}

static int is_lost(const group_agreement *agreement, int i) {
  return agreement_node.lost[node_at(agreement, i)];
}

static group_agreement *drop_agreement(group_agreement *agreement) {
  group_agreement *next = agreement->next;
  free(agreement->proposal);
  free(agreement->to);
  free(agreement->answered);
  free(agreement->done);
  free(agreement);
  return next;
}

/* At the end of each call from outside. */
static void drop_over(void) {
  for (group_agreement **at = &agreements; *at;)
    if ((*at)->over)
      *at = drop_agreement(*at);
    else
      at = &(*at)->next;
}

static rgi_agreement_proposal *copy_of(const rgi_agreement_proposal *proposal) {
  size_t bytes = rgi_agreement_bytes(proposal->nodes, proposal->dead);
  rgi_agreement_proposal *copy = malloc(bytes);
  if (copy)
    memcpy(copy, proposal, bytes);
  return copy;
}

/* Of the proposal only the group and its nodes are taken. */
static group_agreement *begin_agreement(const rgi_agreement_proposal *proposal) {
  group_agreement *agreement = calloc(1, sizeof *agreement);
  if (!agreement)
    return NULL;
  *agreement = (group_agreement){.next = agreements,
                                 .proposal = copy_of(proposal),
                                 .proposed_to = -1,
                                 .voting = {.accepted = NO_ROOT},
                                 .taken = NO_ROOT,
                                 .source = NO_SOURCE,
                                 .to = calloc((size_t)proposal->nodes, 1),
                                 .answered = calloc((size_t)proposal->nodes, 1),
                                 .done = calloc((size_t)proposal->nodes, 1)};
  if (!agreement->proposal || !agreement->to || !agreement->answered || !agreement->done ||
      (agreement->me = index_of(agreement, agreement_node.mine)) < 0) {
    drop_agreement(agreement);
    return NULL;
  }
  memset(rgi_agreement_states(agreement->proposal), 0, (size_t)proposal->nodes);
  agreement->proposal->dead = -1;
  agreement->proposal->word = ~0u;
  agreement->proposal->failed = 0;
  agreements = agreement;
  return agreement;
}

/* Lists of one agreement are as long, and name the same nodes, wherever they come from. */
static int is_about(const group_agreement *agreement, const rgi_agreement_proposal *proposal) {
  rgi_agreement_proposal *mine = agreement->proposal,
                         *theirs = (rgi_agreement_proposal *)(uintptr_t)proposal;
  return mine->group == proposal->group && mine->round == proposal->round &&
         mine->all == proposal->all && mine->nodes == proposal->nodes &&
         mine->members == proposal->members &&
         memcmp(rgi_agreement_nodes(mine), rgi_agreement_nodes(theirs),
                (size_t)proposal->nodes * sizeof(int32_t)) == 0;
}

static group_agreement *find_agreement(const rgi_agreement_proposal *proposal) {
  for (group_agreement *agreement = agreements; agreement; agreement = agreement->next)
    if (is_about(agreement, proposal))
      return agreement;
  return NULL;
}

/* --- forgotten rounds ------------------------------------------------------------------------ */

/* The group's entry; else NULL. */
static forgotten_group *find_forgotten(uint64_t group) {
  for (int i = 0; forgotten && i < FORGOTTEN; i++)
    if (forgotten[i].used && forgotten[i].group == group)
      return &forgotten[i];
  return NULL;
}

static int is_forgotten(uint64_t group, uint32_t round) {
  const forgotten_group *entry = find_forgotten(group);
  return entry && round <= entry->round;
}

/* In the place of the group that was used the longest time ago. */
static void note_forgotten(uint64_t group, uint32_t round) {
  static uint64_t changes;
  if (!forgotten && !(forgotten = calloc(FORGOTTEN, sizeof *forgotten)))
    return;
  forgotten_group *entry = find_forgotten(group);
  if (!entry) {
    entry = forgotten;
    for (int i = 1; i < FORGOTTEN; i++)
      if (forgotten[i].used < entry->used)
        entry = &forgotten[i];
    *entry = (forgotten_group){.group = group};
  }
  entry->used = ++changes;
  if (round > entry->round)
    entry->round = round;
}

/* Combines a proposal with those before. Where every node must vote the dead are not listed; else
 * the first list stays. A decision does not change any more. */
static void merge_proposal(group_agreement *agreement, const rgi_agreement_proposal *proposal) {
  rgi_agreement_proposal *mine = agreement->proposal,
                         *from = (rgi_agreement_proposal *)(uintptr_t)proposal;
  if (agreement->taken >= 0)
    return;
  for (int i = 0; i < proposal->nodes; i++)
    if (rgi_agreement_states(from)[i] & ~rgi_agreement_states(mine)[i]) {
      rgi_agreement_states(mine)[i] |= rgi_agreement_states(from)[i];
      agreement->changed = 1;
    }
  mine->word &= proposal->word;
  mine->failed |= proposal->failed;
  if (mine->dead >= 0 || proposal->dead < 0)
    return;
  rgi_agreement_proposal *more =
      realloc(mine, rgi_agreement_bytes(proposal->nodes, proposal->dead));
  if (!more)
    return;
  agreement->proposal = more;
  more->dead = proposal->dead;
  memcpy(rgi_agreement_dead(more), rgi_agreement_dead(from), 4 * (size_t)proposal->dead);
  agreement->changed = 1;
}

/* --- the tree ----------------------------------------------------------------------------- */

static int root_of(const group_agreement *agreement) {
  int i = 0;
  while (is_lost(agreement, i) && i < agreement->me)
    i++;
  return i;
}

/* The nearest ancestor that lives, else the present root; -1: this node is the root. */
static int parent_of(const group_agreement *agreement) {
  int i = agreement->me;
  while (i > 0) {
    i = (i - 1) / 2;
    if (!is_lost(agreement, i))
      return i;
  }
  i = root_of(agreement);
  return i == agreement->me ? -1 : i;
}

static int is_below(int i, int me) {
  while (i > me)
    i = (i - 1) / 2;
  return i == me;
}

/* Whether the proposal may be sent to the parent; at the root (parent < 0): whether it may be
 * decided. */
static int is_complete(const group_agreement *agreement, int parent) {
  if (!agreement->proposal->all)
    return agreement->proposal->dead >= 0;
  for (int i = 0; i < agreement->proposal->nodes; i++)
    if ((parent < 0 || is_below(i, agreement->me)) &&
        !rgi_agreement_states(agreement->proposal)[i] && !is_lost(agreement, i))
      return 0;
  return 1;
}

/* --- sending ------------------------------------------------------------------------------- */

static void send_to(const group_agreement *agreement, int i, uint32_t kind, int64_t ballot) {
  rgi_agreement_proposal *proposal = agreement->proposal;
  proposal->ballot = (int32_t)ballot;
  proposal->accepted = (int32_t)agreement->voting.accepted;
  rgi_channel_send(node_at(agreement, i), kind, proposal,
                   rgi_agreement_bytes(proposal->nodes, proposal->dead));
}

static void send_notice(int node, uint32_t kind, const agreement_notice *notice) {
  rgi_channel_send(node, kind, notice, sizeof *notice);
}

/* Only once: afterwards the ranks that waited may have freed the round. */
static void tell_here(group_agreement *agreement) {
  if (!agreement->round_at || agreement->told)
    return;
  agreement->told = 1;
  rgi_agreement_round *round = rgi_arena_at(agreement->round_at);
  unsigned char *flags_at = rgi_arena_at(agreement->flags_at);
  for (int i = 0; i < agreement->proposal->dead; i++)
    flags_at[rgi_agreement_dead(agreement->proposal)[i]] = 1;
  round->word = agreement->proposal->word;
  round->deaths = agreement->proposal->failed;
  atomic_store(&round->state, RGI_AGREEMENT_DECIDED);
  rgi_process_table_ring(agreement_node.table);
}

/* This node's part in forgetting a group's rounds up to this one. */
static void forget_rounds(uint64_t group, uint32_t round) {
  note_forgotten(group, round);
  for (group_agreement *agreement = agreements; agreement; agreement = agreement->next) {
    if (agreement->over || agreement->proposal->group != group ||
        agreement->proposal->round > round)
      continue;
    const agreement_notice notice = {.group = group, .round = agreement->proposal->round};
    agreement->over = 1;
    for (int i = 0; agreement->proposal->all && i < agreement->proposal->nodes; i++)
      if (agreement->to[i] && !is_lost(agreement, i))
        send_notice(node_at(agreement, i), MESSAGE_FORGET, &notice);
  }
}

/* Whether this node waits for the DONE of that one. */
static int awaits_done(const group_agreement *agreement, int i) {
  int voted = rgi_agreement_states(agreement->proposal)[i] & RGI_AGREEMENT_VOTED &&
              (agreement->source == agreement->me || is_below(i, agreement->me));
  return i != agreement->me && !is_lost(agreement, i) && !agreement->done[i] &&
         (voted || agreement->to[i]);
}

static int has_all_done(const group_agreement *agreement) {
  for (int i = 0; i < agreement->proposal->nodes; i++)
    if (awaits_done(agreement, i))
      return 0;
  return 1;
}

/* If it is time: DONE to the source, or the root's FORGET. */
static void report_done(group_agreement *agreement) {
  rgi_agreement_proposal *proposal = agreement->proposal;
  const agreement_notice notice = {.group = proposal->group,
                                   .round = proposal->round,
                                   .ballot = (int32_t)agreement->voting.accepted};
  int is_root = agreement->source == agreement->me;
  if (!agreement->decided || !proposal->all || agreement->reported ||
      agreement->source == NO_SOURCE ||
      ((is_root || agreement->voting.accepted == 0) && !has_all_done(agreement)))
    return;
  agreement->reported = 1;
  if (is_root)
    forget_rounds(proposal->group, proposal->round);
  else
    send_notice(node_at(agreement, agreement->source), MESSAGE_DONE, &notice);
}

/* A root that has taken over sends its decision to all by itself. */
static void tell_decision(group_agreement *agreement, int source) {
  agreement->decided = 1;
  agreement->source = source;
  tell_here(agreement);
  int forwards =
      source == agreement->me || agreement->voting.accepted == 0 || !agreement->proposal->all;
  for (int i = 0; i < agreement->proposal->nodes && forwards; i++)
    if (agreement->to[i] && !is_lost(agreement, i))
      send_to(agreement, i, MESSAGE_DECISION, agreement->voting.accepted);
  report_done(agreement);
}

static int has_lost(const group_agreement *agreement) {
  for (int i = 0; i < agreement->proposal->nodes; i++)
    if (is_lost(agreement, i))
      return 1;
  return 0;
}

/* A node that has voted may not have known of the loss of another one. */
static void make_decision(group_agreement *agreement) {
  if (agreement->taken < 0 && !agreement->decided)
    agreement->proposal->failed |= agreement->proposal->dead > 0 || has_lost(agreement);
  rgi_voting_accept(&agreement->voting, agreement->me);
  agreement->reported = 0;
  memset(agreement->done, 0, (size_t)agreement->proposal->nodes);
  tell_decision(agreement, agreement->me);
}

static void prepare_all(group_agreement *agreement) {
  rgi_voting_promise(&agreement->voting, agreement->me);
  for (int i = 0; i < agreement->proposal->nodes; i++)
    if (agreement->to[i] && !is_lost(agreement, i))
      send_to(agreement, i, MESSAGE_PREPARE, agreement->me);
}

static int has_all_promises(const group_agreement *agreement) {
  for (int i = 0; i < agreement->proposal->nodes; i++)
    if (agreement->to[i] && !is_lost(agreement, i) && !agreement->answered[i])
      return 0;
  return 1;
}

/* A node that has the decision proposes nothing any more: so the new root prepares at once, and
 * does not wait for all proposals first. All that promise get its decision, since they would take
 * none from an earlier root. */
static void take_over(group_agreement *agreement) {
  int first = !agreement->preparing;
  agreement->preparing = 1;
  if (first)
    for (int i = 0; i < agreement->proposal->nodes; i++)
      agreement->to[i] = i != agreement->me;
  if (first && agreement->decided)
    make_decision(agreement);
  else if (first)
    prepare_all(agreement);
  if (!agreement->decided && has_all_promises(agreement) &&
      (agreement->taken >= 0 || is_complete(agreement, -1)))
    make_decision(agreement);
}

static void propose_to(group_agreement *agreement, int parent) {
  agreement->proposed_to = parent;
  agreement->changed = 0;
  send_to(agreement, parent, MESSAGE_PROPOSAL, 0);
}

/* With the decision; it is not forgotten. */
static void await_end(group_agreement *agreement, int parent) {
  if (!agreement->proposal->all)
    return;
  if (agreement->source != NO_SOURCE && is_lost(agreement, agreement->source)) {
    agreement->source = NO_SOURCE;
    agreement->proposed_to = -1;
  }
  if (agreement->source == NO_SOURCE && agreement->proposed_to != parent)
    propose_to(agreement, parent);
  report_done(agreement);
}

static void advance_agreement(group_agreement *agreement) {
  int parent = parent_of(agreement);
  int takes_over = parent < 0 && agreement->me > 0;
  if (agreement->over)
    return;
  if (takes_over)
    take_over(agreement);
  if (agreement->decided) {
    await_end(agreement, parent);
  } else if (takes_over || !is_complete(agreement, parent)) {
    return;
  } else if (parent < 0) {
    make_decision(agreement);
  } else if (agreement->proposed_to != parent || agreement->changed) {
    propose_to(agreement, parent);
  }
}

/* --- receiving ----------------------------------------------------------------------------- */

static void receive_proposal(group_agreement *agreement, int from,
                             const rgi_agreement_proposal *proposal) {
  agreement->to[from] = 1;
  if (agreement->decided) {
    send_to(agreement, from, MESSAGE_DECISION, agreement->voting.accepted);
    return;
  }
  merge_proposal(agreement, proposal);
  advance_agreement(agreement);
}

/* The message that came becomes the decision; what was there is freed instead of it. */
static void take_decision(group_agreement *agreement, rgi_agreement_proposal **message) {
  rgi_agreement_proposal *decision = *message;
  *message = agreement->proposal;
  agreement->proposal = decision;
}

/* A decision that comes again is the same: the sender wants to know that this node has it. */
static void receive_decision(group_agreement *agreement, int from,
                             rgi_agreement_proposal **message) {
  int32_t ballot = (*message)->ballot;
  int is_own = agreement->source == agreement->me && ballot == agreement->voting.accepted;
  if (is_own || !rgi_voting_accept(&agreement->voting, ballot))
    return;
  if (!agreement->decided) {
    take_decision(agreement, message);
    tell_decision(agreement, from);
  } else if (agreement->proposal->all) {
    agreement->source = from;
    agreement->reported = 0;
    report_done(agreement);
  }
}

static void receive_prepare(group_agreement *agreement, int from, int32_t ballot) {
  if (rgi_voting_promise(&agreement->voting, ballot))
    send_to(agreement, from, MESSAGE_PROMISE, ballot);
}

static void receive_promise(group_agreement *agreement, int from,
                            rgi_agreement_proposal **message) {
  if (!agreement->preparing || agreement->decided || (*message)->ballot != agreement->me)
    return;
  if (rgi_voting_take(&agreement->taken, (*message)->accepted))
    take_decision(agreement, message);
  agreement->answered[from] = 1;
  advance_agreement(agreement);
}

static int are_below(const int32_t list[], int n, int limit) {
  for (int i = 0; i < n; i++)
    if (list[i] < 0 || list[i] >= limit)
      return 0;
  return 1;
}

/* One that each node knows is listed once. Only a decision that is made is told. */
static int is_possible(rgi_agreement_proposal *proposal, int from, uint32_t kind) {
  int places[2] = {0, 0};
  for (int i = 0; i < proposal->nodes; i++) {
    places[0] += rgi_agreement_nodes(proposal)[i] == agreement_node.mine;
    places[1] += rgi_agreement_nodes(proposal)[i] == from;
  }
  return places[0] == 1 && places[1] == 1 && proposal->all <= 1 && proposal->ballot >= 0 &&
         proposal->ballot < proposal->nodes && proposal->accepted >= -1 &&
         proposal->accepted < proposal->nodes &&
         (kind != MESSAGE_DECISION || proposal->accepted == proposal->ballot) &&
         (!proposal->all || proposal->dead < 0);
}

/* From another node: nothing in it may lead beyond what this node has. */
static int is_valid_proposal(rgi_agreement_proposal *proposal, size_t bytes) {
  return bytes >= sizeof *proposal && proposal->nodes > 0 &&
         proposal->nodes <= agreement_node.nodes && proposal->nodes <= proposal->members &&
         proposal->dead <= proposal->members &&
         bytes == rgi_agreement_bytes(proposal->nodes, proposal->dead) &&
         are_below(rgi_agreement_nodes(proposal), proposal->nodes, agreement_node.nodes) &&
         are_below(rgi_agreement_dead(proposal), proposal->dead, proposal->members);
}

static void receive_message(group_agreement *agreement, int from, uint32_t kind,
                            rgi_agreement_proposal **message) {
  int i = index_of(agreement, from);
  if (kind == MESSAGE_PROPOSAL)
    receive_proposal(agreement, i, *message);
  else if (kind == MESSAGE_DECISION)
    receive_decision(agreement, i, message);
  else if (kind == MESSAGE_PREPARE)
    receive_prepare(agreement, i, (*message)->ballot);
  else if (kind == MESSAGE_PROMISE)
    receive_promise(agreement, i, message);
}

static void receive_about(int from, uint32_t kind, rgi_agreement_proposal **message) {
  const rgi_agreement_proposal *proposal = *message;
  group_agreement *agreement = find_agreement(proposal);
  if (!agreement && is_forgotten(proposal->group, proposal->round)) {
    const agreement_notice over = {.group = proposal->group, .round = proposal->round};
    if (kind != MESSAGE_PROMISE)
      send_notice(from, MESSAGE_FORGET, &over);
    return;
  }
  if (!agreement && kind != MESSAGE_PROMISE)
    agreement = begin_agreement(proposal);
  if (agreement)
    receive_message(agreement, from, kind, message);
}

/* The agreement in which every node votes; NULL: none that has this node. */
static group_agreement *find_noticed(int from, const agreement_notice *notice) {
  for (group_agreement *agreement = agreements; agreement; agreement = agreement->next)
    if (agreement->proposal->all && agreement->proposal->group == notice->group &&
        agreement->proposal->round == notice->round && index_of(agreement, from) >= 0)
      return agreement;
  return NULL;
}

static void receive_done(int from, const agreement_notice *notice) {
  group_agreement *agreement = find_noticed(from, notice);
  if (!agreement && is_forgotten(notice->group, notice->round))
    send_notice(from, MESSAGE_FORGET, notice);
  if (!agreement || !agreement->decided)
    return;
  int place = index_of(agreement, from);
  for (int i = 0; i < agreement->proposal->nodes; i++)
    if (i == place || (notice->ballot == 0 && is_below(i, place)))
      agreement->done[i] = 1;
  report_done(agreement);
}

static void receive_notice(int from, uint32_t kind, const void *data, size_t bytes) {
  agreement_notice notice;
  if (bytes != sizeof notice)
    return;
  memcpy(&notice, data, sizeof notice);
  if (kind == MESSAGE_DONE)
    receive_done(from, &notice);
  else if (find_noticed(from, &notice))
    forget_rounds(notice.group, notice.round);
}

void rgi_agreement_receive(int from, uint32_t kind, const void *data, size_t bytes) {
  if (kind < MESSAGE_PROPOSAL || kind > MESSAGE_FORGET)
    return;
  if (kind >= MESSAGE_DONE) {
    receive_notice(from, kind, data, bytes);
  } else {
    rgi_agreement_proposal *proposal = malloc(bytes + sizeof *proposal); /* aligned */
    if (!proposal)
      return;
    memcpy(proposal, data, bytes);
    if (is_valid_proposal(proposal, bytes) && is_possible(proposal, from, kind))
      receive_about(from, kind, &proposal);
    free(proposal);
  }
  drop_over();
}

void rgi_agreement_propose(uint64_t at) {
  rgi_agreement_proposal *proposal = rgi_arena_at(at);
  size_t bytes = rgi_agreement_bytes(proposal->nodes, proposal->dead);
  group_agreement *agreement = find_agreement(proposal);
  if (!agreement && !is_forgotten(proposal->group, proposal->round))
    agreement = begin_agreement(proposal);
  if (agreement) {
    agreement->round_at = proposal->round_at;
    agreement->flags_at = proposal->flags_at;
    if (agreement->decided) {
      tell_here(agreement);
    } else {
      merge_proposal(agreement, proposal);
      advance_agreement(agreement);
    }
  }
  rgi_arena_free(at, bytes);
  drop_over();
}

void rgi_agreement_node_lost(void) {
  for (group_agreement *agreement = agreements; agreement; agreement = agreement->next)
    advance_agreement(agreement);
  drop_over();
}

void rgi_agreement_open(int nodes, int node, const unsigned char lost[],
                        const rgi_process_table *table) {
  agreement_node.nodes = nodes;
  agreement_node.mine = node;
  agreement_node.lost = lost;
  agreement_node.table = table;
}

void rgi_agreement_close(void) {
  while (agreements)
    agreements = drop_agreement(agreements);
  free(forgotten);
  forgotten = NULL;
}
