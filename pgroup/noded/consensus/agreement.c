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
 * be the root (take_over) is therefore one of a sequence of roots, numbered by their places in the
 * list (ballot), and must not decide anything else:
 *
 *  1. It sends PREPARE to all nodes that it believes alive. A node that promises takes no decision
 *     from a root with a smaller number from then on (promised), and answers PROMISE with the
 *     decision that it has, if any (accepted: the number of the root that made it, else -1).
 *  2. When all of them have promised or are lost, it takes over the decision with the largest such
 *     number. Without one it waits for the proposals, which the nodes now send to it, and decides
 *     itself.
 *  3. It sends the decision, under its own number, to all nodes. A root that has a decision when it
 *     takes over begins here.
 *
 * Why all surviving nodes have the same decision: a decision reaches the ranks of a node only when
 * the node has not promised anything to a later root, and a node that has it tells each later root.
 * A root with a decision that no surviving node has heard, and that is itself lost, does no harm.
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

typedef struct {
  uint64_t group;
  uint32_t round; /* FORGET: and all before */
  int32_t ballot; /* DONE: the root whose decision this is */
} agreement_notice;

typedef struct {
  uint64_t group, used; /* used: when, counted in changes; 0: never */
  uint32_t round;       /* forgotten, and all before */
} forgotten_group;

typedef struct agreement {
  struct agreement *next;
  rgi_agreement_proposal *proposal; /* all proposals so far, combined; or the decision */
  int me;                           /* this node's place in the group's list */
  int decided;
  int proposed_to;             /* the place to which this node has sent the proposal, or -1 */
  int changed;                 /* whether the proposal has changed since */
  int promised;                /* the root from which on this node takes decisions */
  int told;                    /* the ranks that wait here have the decision */
  int preparing;               /* as a root that has taken over */
  int source;                  /* the place from which the decision came; me: made here */
  int reported;                /* the source has DONE */
  int over;                    /* is to be dropped */
  unsigned char *to;           /* for each place: is to get the decision */
  unsigned char *answered;     /* for each place: has promised */
  unsigned char *done;         /* for each place: is known to have the decision */
  uint64_t round_at, flags_at; /* of the ranks that wait here; 0: none */
} agreement;

static agreement *agreements;
static forgotten_group *forgotten; /* FORGOTTEN of them; NULL: none yet */

static struct {
  int nodes, mine;           /* of the job; this node's index */
  const unsigned char *lost; /* for each node */
  const rgi_process_table *table;
} agreement_node;

/* --- agreements ------------------------------------------------------------------------------ */

static int index_of(const agreement *t, int node) {
  for (int i = 0; i < t->proposal->nodes; i++)
    if (rgi_agreement_nodes(t->proposal)[i] == node)
      return i;
  return -1;
}

static int node_at(const agreement *t, int i) {
  return rgi_agreement_nodes(t->proposal)[i];
}

static int is_lost(const agreement *t, int i) {
  return agreement_node.lost[node_at(t, i)];
}

static agreement *drop_agreement(agreement *t) {
  agreement *next = t->next;
  free(t->proposal);
  free(t->to);
  free(t->answered);
  free(t->done);
  free(t);
  return next;
}

/* At the end of each call from outside. */
static void drop_over(void) {
  for (agreement **at = &agreements; *at;)
    if ((*at)->over)
      *at = drop_agreement(*at);
    else
      at = &(*at)->next;
}

static rgi_agreement_proposal *copy_of(const rgi_agreement_proposal *m) {
  size_t bytes = rgi_agreement_bytes(m->nodes, m->dead);
  rgi_agreement_proposal *copy = malloc(bytes);
  if (copy)
    memcpy(copy, m, bytes);
  return copy;
}

/* Of the proposal only the group and its nodes are taken. */
static agreement *begin_agreement(const rgi_agreement_proposal *m) {
  agreement *t = calloc(1, sizeof *t);
  if (!t)
    return NULL;
  *t = (agreement){.next = agreements,
                   .proposal = copy_of(m),
                   .proposed_to = -1,
                   .source = NO_SOURCE,
                   .to = calloc((size_t)m->nodes, 1),
                   .answered = calloc((size_t)m->nodes, 1),
                   .done = calloc((size_t)m->nodes, 1)};
  if (!t->proposal || !t->to || !t->answered || !t->done ||
      (t->me = index_of(t, agreement_node.mine)) < 0) {
    drop_agreement(t);
    return NULL;
  }
  memset(rgi_agreement_states(t->proposal), 0, (size_t)m->nodes);
  t->proposal->dead = -1;
  t->proposal->word = ~0u;
  t->proposal->failed = 0;
  t->proposal->accepted = -1;
  agreements = t;
  return t;
}

/* Lists of one agreement are as long, and name the same nodes, wherever they come from. */
static int is_about(const agreement *t, const rgi_agreement_proposal *m) {
  rgi_agreement_proposal *mine = t->proposal, *theirs = (rgi_agreement_proposal *)(uintptr_t)m;
  return mine->group == m->group && mine->round == m->round && mine->all == m->all &&
         mine->nodes == m->nodes && mine->members == m->members &&
         memcmp(rgi_agreement_nodes(mine), rgi_agreement_nodes(theirs),
                (size_t)m->nodes * sizeof(int32_t)) == 0;
}

static agreement *find_agreement(const rgi_agreement_proposal *m) {
  for (agreement *t = agreements; t; t = t->next)
    if (is_about(t, m))
      return t;
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
  const forgotten_group *f = find_forgotten(group);
  return f && round <= f->round;
}

/* In the place of the group that was used the longest time ago. */
static void note_forgotten(uint64_t group, uint32_t round) {
  static uint64_t changes;
  if (!forgotten && !(forgotten = calloc(FORGOTTEN, sizeof *forgotten)))
    return;
  forgotten_group *f = find_forgotten(group);
  if (!f) {
    f = forgotten;
    for (int i = 1; i < FORGOTTEN; i++)
      if (forgotten[i].used < f->used)
        f = &forgotten[i];
    *f = (forgotten_group){.group = group};
  }
  f->used = ++changes;
  if (round > f->round)
    f->round = round;
}

/* Combines a proposal with those before. Where every node must vote the dead are not listed; else
 * the first list stays. A decision does not change any more. */
static void merge_proposal(agreement *t, const rgi_agreement_proposal *m) {
  rgi_agreement_proposal *proposal = t->proposal, *from = (rgi_agreement_proposal *)(uintptr_t)m;
  if (proposal->accepted >= 0)
    return;
  for (int i = 0; i < m->nodes; i++)
    if (rgi_agreement_states(from)[i] & ~rgi_agreement_states(proposal)[i]) {
      rgi_agreement_states(proposal)[i] |= rgi_agreement_states(from)[i];
      t->changed = 1;
    }
  proposal->word &= m->word;
  proposal->failed |= m->failed;
  if (proposal->dead >= 0 || m->dead < 0)
    return;
  rgi_agreement_proposal *more = realloc(proposal, rgi_agreement_bytes(m->nodes, m->dead));
  if (!more)
    return;
  t->proposal = more;
  more->dead = m->dead;
  memcpy(rgi_agreement_dead(more), rgi_agreement_dead(from), 4 * (size_t)m->dead);
  t->changed = 1;
}

/* --- the tree ----------------------------------------------------------------------------- */

static int root_of(const agreement *t) {
  int i = 0;
  while (is_lost(t, i) && i < t->me)
    i++;
  return i;
}

/* The nearest ancestor that lives, else the present root; -1: this node is the root. */
static int parent_of(const agreement *t) {
  int i = t->me;
  while (i > 0) {
    i = (i - 1) / 2;
    if (!is_lost(t, i))
      return i;
  }
  i = root_of(t);
  return i == t->me ? -1 : i;
}

static int is_below(int i, int me) {
  while (i > me)
    i = (i - 1) / 2;
  return i == me;
}

/* Whether the proposal may be sent to the parent; at the root (parent < 0): whether it may be
 * decided. */
static int is_complete(const agreement *t, int parent) {
  if (!t->proposal->all)
    return t->proposal->dead >= 0;
  for (int i = 0; i < t->proposal->nodes; i++)
    if ((parent < 0 || is_below(i, t->me)) && !rgi_agreement_states(t->proposal)[i] &&
        !is_lost(t, i))
      return 0;
  return 1;
}

/* --- sending ------------------------------------------------------------------------------- */

static void send_to(const agreement *t, int i, uint32_t kind, int ballot) {
  rgi_agreement_proposal *m = t->proposal;
  m->ballot = ballot;
  rgi_channel_send(node_at(t, i), kind, m, rgi_agreement_bytes(m->nodes, m->dead));
}

static void send_notice(int node, uint32_t kind, const agreement_notice *m) {
  rgi_channel_send(node, kind, m, sizeof *m);
}

/* Only once: afterwards the ranks that waited may have freed the round. */
static void tell_here(agreement *t) {
  if (!t->round_at || t->told)
    return;
  t->told = 1;
  rgi_agreement_round *round = rgi_arena_at(t->round_at);
  unsigned char *flags_at = rgi_arena_at(t->flags_at);
  for (int i = 0; i < t->proposal->dead; i++)
    flags_at[rgi_agreement_dead(t->proposal)[i]] = 1;
  round->word = t->proposal->word;
  round->deaths = t->proposal->failed;
  atomic_store(&round->state, RGI_AGREEMENT_DECIDED);
  rgi_process_table_ring(agreement_node.table);
}

/* This node's part in forgetting a group's rounds up to this one. */
static void forget_rounds(uint64_t group, uint32_t round) {
  note_forgotten(group, round);
  for (agreement *t = agreements; t; t = t->next) {
    if (t->over || t->proposal->group != group || t->proposal->round > round)
      continue;
    const agreement_notice m = {.group = group, .round = t->proposal->round};
    t->over = 1;
    for (int i = 0; t->proposal->all && i < t->proposal->nodes; i++)
      if (t->to[i] && !is_lost(t, i))
        send_notice(node_at(t, i), MESSAGE_FORGET, &m);
  }
}

/* Whether this node waits for the DONE of that one. */
static int awaits_done(const agreement *t, int i) {
  int voted = rgi_agreement_states(t->proposal)[i] & RGI_AGREEMENT_VOTED &&
              (t->source == t->me || is_below(i, t->me));
  return i != t->me && !is_lost(t, i) && !t->done[i] && (voted || t->to[i]);
}

static int has_all_done(const agreement *t) {
  for (int i = 0; i < t->proposal->nodes; i++)
    if (awaits_done(t, i))
      return 0;
  return 1;
}

/* If it is time: DONE to the source, or the root's FORGET. */
static void report_done(agreement *t) {
  rgi_agreement_proposal *p = t->proposal;
  const agreement_notice m = {.group = p->group, .round = p->round, .ballot = p->accepted};
  int is_root = t->source == t->me;
  if (!t->decided || !p->all || t->reported || t->source == NO_SOURCE ||
      ((is_root || p->accepted == 0) && !has_all_done(t)))
    return;
  t->reported = 1;
  if (is_root)
    forget_rounds(p->group, p->round);
  else
    send_notice(node_at(t, t->source), MESSAGE_DONE, &m);
}

/* A root that has taken over sends its decision to all by itself. */
static void tell_decision(agreement *t, int source) {
  t->decided = 1;
  t->source = source;
  tell_here(t);
  int forwards = source == t->me || t->proposal->accepted == 0 || !t->proposal->all;
  for (int i = 0; i < t->proposal->nodes && forwards; i++)
    if (t->to[i] && !is_lost(t, i))
      send_to(t, i, MESSAGE_DECISION, t->proposal->accepted);
  report_done(t);
}

static int has_lost(const agreement *t) {
  for (int i = 0; i < t->proposal->nodes; i++)
    if (is_lost(t, i))
      return 1;
  return 0;
}

/* A node that has voted may not have known of the loss of another one. */
static void make_decision(agreement *t) {
  if (t->proposal->accepted < 0)
    t->proposal->failed |= t->proposal->dead > 0 || has_lost(t);
  t->proposal->accepted = t->me;
  t->reported = 0;
  memset(t->done, 0, (size_t)t->proposal->nodes);
  tell_decision(t, t->me);
}

static void prepare_all(agreement *t) {
  t->promised = t->me;
  for (int i = 0; i < t->proposal->nodes; i++)
    if (t->to[i] && !is_lost(t, i))
      send_to(t, i, MESSAGE_PREPARE, t->me);
}

static int has_all_promises(const agreement *t) {
  for (int i = 0; i < t->proposal->nodes; i++)
    if (t->to[i] && !is_lost(t, i) && !t->answered[i])
      return 0;
  return 1;
}

/* A node that has the decision proposes nothing any more: so the new root prepares at once, and
 * does not wait for all proposals first. All that promise get its decision, since they would take
 * none from an earlier root. */
static void take_over(agreement *t) {
  int first = !t->preparing;
  t->preparing = 1;
  if (first)
    for (int i = 0; i < t->proposal->nodes; i++)
      t->to[i] = i != t->me;
  if (first && t->decided)
    make_decision(t);
  else if (first)
    prepare_all(t);
  if (!t->decided && has_all_promises(t) && (t->proposal->accepted >= 0 || is_complete(t, -1)))
    make_decision(t);
}

static void propose_to(agreement *t, int parent) {
  t->proposed_to = parent;
  t->changed = 0;
  send_to(t, parent, MESSAGE_PROPOSAL, 0);
}

/* With the decision; it is not forgotten. */
static void await_end(agreement *t, int parent) {
  if (!t->proposal->all)
    return;
  if (t->source != NO_SOURCE && is_lost(t, t->source)) {
    t->source = NO_SOURCE;
    t->proposed_to = -1;
  }
  if (t->source == NO_SOURCE && t->proposed_to != parent)
    propose_to(t, parent);
  report_done(t);
}

static void advance_agreement(agreement *t) {
  int parent = parent_of(t);
  int takes_over = parent < 0 && t->me > 0;
  if (t->over)
    return;
  if (takes_over)
    take_over(t);
  if (t->decided) {
    await_end(t, parent);
  } else if (takes_over || !is_complete(t, parent)) {
    return;
  } else if (parent < 0) {
    make_decision(t);
  } else if (t->proposed_to != parent || t->changed) {
    propose_to(t, parent);
  }
}

/* --- receiving ---------------------------------------------------------------------------------
 */

static void receive_proposal(agreement *t, int from, const rgi_agreement_proposal *m) {
  t->to[from] = 1;
  if (t->decided) {
    send_to(t, from, MESSAGE_DECISION, t->proposal->accepted);
    return;
  }
  merge_proposal(t, m);
  advance_agreement(t);
}

/* 0: no memory. */
static int take_decision(agreement *t, const rgi_agreement_proposal *m) {
  rgi_agreement_proposal *decision = copy_of(m);
  if (!decision)
    return 0;
  free(t->proposal);
  t->proposal = decision;
  return 1;
}

/* A decision that comes again is the same: the sender wants to know that this node has it. */
static void receive_decision(agreement *t, int from, const rgi_agreement_proposal *m) {
  if (m->ballot < t->promised)
    return;
  if (!t->decided) {
    if (take_decision(t, m))
      tell_decision(t, from);
    return;
  }
  if (!t->proposal->all || m->ballot < t->proposal->accepted + (t->source == t->me))
    return;
  t->proposal->accepted = m->ballot;
  t->source = from;
  t->reported = 0;
  report_done(t);
}

static void receive_prepare(agreement *t, int from, const rgi_agreement_proposal *m) {
  if (m->ballot < t->promised)
    return;
  t->promised = m->ballot;
  send_to(t, from, MESSAGE_PROMISE, m->ballot);
}

static void receive_promise(agreement *t, int from, const rgi_agreement_proposal *m) {
  if (!t->preparing || t->decided || m->ballot != t->me)
    return;
  if (m->accepted > t->proposal->accepted && !take_decision(t, m))
    return;
  t->answered[from] = 1;
  advance_agreement(t);
}

static int are_below(const int32_t list[], int n, int limit) {
  for (int i = 0; i < n; i++)
    if (list[i] < 0 || list[i] >= limit)
      return 0;
  return 1;
}

/* One that each node knows is listed once. Only a decision that is made is told. */
static int is_possible(rgi_agreement_proposal *m, int from, uint32_t kind) {
  int places[2] = {0, 0};
  for (int i = 0; i < m->nodes; i++) {
    places[0] += rgi_agreement_nodes(m)[i] == agreement_node.mine;
    places[1] += rgi_agreement_nodes(m)[i] == from;
  }
  return places[0] == 1 && places[1] == 1 && m->all <= 1 && m->ballot >= 0 &&
         m->ballot < m->nodes && m->accepted >= -1 && m->accepted < m->nodes &&
         (kind != MESSAGE_DECISION || m->accepted == m->ballot) && (!m->all || m->dead < 0);
}

/* From another node: nothing in it may lead beyond what this node has. */
static int is_valid_proposal(rgi_agreement_proposal *m, size_t bytes) {
  return bytes >= sizeof *m && m->nodes > 0 && m->nodes <= agreement_node.nodes &&
         m->nodes <= m->members && m->dead <= m->members &&
         bytes == rgi_agreement_bytes(m->nodes, m->dead) &&
         are_below(rgi_agreement_nodes(m), m->nodes, agreement_node.nodes) &&
         are_below(rgi_agreement_dead(m), m->dead, m->members);
}

static void receive_message(agreement *t, int from, uint32_t kind,
                            const rgi_agreement_proposal *m) {
  int i = index_of(t, from);
  if (kind == MESSAGE_PROPOSAL)
    receive_proposal(t, i, m);
  else if (kind == MESSAGE_DECISION)
    receive_decision(t, i, m);
  else if (kind == MESSAGE_PREPARE)
    receive_prepare(t, i, m);
  else if (kind == MESSAGE_PROMISE)
    receive_promise(t, i, m);
}

static void receive_about(int from, uint32_t kind, const rgi_agreement_proposal *m) {
  agreement *t = find_agreement(m);
  if (!t && is_forgotten(m->group, m->round)) {
    const agreement_notice over = {.group = m->group, .round = m->round};
    if (kind != MESSAGE_PROMISE)
      send_notice(from, MESSAGE_FORGET, &over);
    return;
  }
  if (!t && kind != MESSAGE_PROMISE)
    t = begin_agreement(m);
  if (t)
    receive_message(t, from, kind, m);
}

/* The agreement in which every node votes; NULL: none that has this node. */
static agreement *find_noticed(int from, const agreement_notice *m) {
  for (agreement *t = agreements; t; t = t->next)
    if (t->proposal->all && t->proposal->group == m->group && t->proposal->round == m->round &&
        index_of(t, from) >= 0)
      return t;
  return NULL;
}

static void receive_done(int from, const agreement_notice *m) {
  agreement *t = find_noticed(from, m);
  if (!t && is_forgotten(m->group, m->round))
    send_notice(from, MESSAGE_FORGET, m);
  if (!t || !t->decided)
    return;
  int place = index_of(t, from);
  for (int i = 0; i < t->proposal->nodes; i++)
    if (i == place || (m->ballot == 0 && is_below(i, place)))
      t->done[i] = 1;
  report_done(t);
}

static void receive_notice(int from, uint32_t kind, const void *data, size_t bytes) {
  agreement_notice m;
  if (bytes != sizeof m)
    return;
  memcpy(&m, data, sizeof m);
  if (kind == MESSAGE_DONE)
    receive_done(from, &m);
  else if (find_noticed(from, &m))
    forget_rounds(m.group, m.round);
}

void rgi_agreement_receive(int from, uint32_t kind, const void *data, size_t bytes) {
  if (kind < MESSAGE_PROPOSAL || kind > MESSAGE_FORGET)
    return;
  if (kind >= MESSAGE_DONE) {
    receive_notice(from, kind, data, bytes);
  } else {
    rgi_agreement_proposal *m = malloc(bytes + sizeof *m); /* aligned */
    if (!m)
      return;
    memcpy(m, data, bytes);
    if (is_valid_proposal(m, bytes) && is_possible(m, from, kind))
      receive_about(from, kind, m);
    free(m);
  }
  drop_over();
}

void rgi_agreement_propose(uint64_t at) {
  rgi_agreement_proposal *m = rgi_arena_at(at);
  size_t bytes = rgi_agreement_bytes(m->nodes, m->dead);
  agreement *t = find_agreement(m);
  if (!t && !is_forgotten(m->group, m->round))
    t = begin_agreement(m);
  if (t) {
    t->round_at = m->round_at;
    t->flags_at = m->flags_at;
    if (t->decided) {
      tell_here(t);
    } else {
      merge_proposal(t, m);
      advance_agreement(t);
    }
  }
  rgi_arena_free(at, bytes);
  drop_over();
}

void rgi_agreement_node_lost(void) {
  for (agreement *t = agreements; t; t = t->next)
    advance_agreement(t);
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
