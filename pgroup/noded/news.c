/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One line for each loss, and for the end. The rest of regroup-run's knowledge comes from the
 * launcher. */
#include "noded/news.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#define NEWS_BYTES 4000 /* of a line; regroup-run looks at no more */

int rgi_news_are_wanted(void) {
  return getenv("RG_RESTARTS") != NULL;
}

/* The ranks of a node, as ranges, behind what is in the line. */
static void add_ranks(rgi_overlay *m, int node, char *line, int n) {
  const int32_t *of = rgi_overlay_rank_nodes(m);
  for (int i = 0, first = 1; i < m->world; i++) {
    int begin = i;
    while (of[i] == node && i + 1 < m->world && of[i + 1] == node)
      i++;
    if (of[i] != node || n > NEWS_BYTES - 32)
      continue;
    n += snprintf(line + n, (size_t)(NEWS_BYTES - n), begin < i ? "%c%d-%d" : "%c%d",
                  first ? ' ' : ',', begin, i);
    first = 0;
  }
}

void rgi_news_loss(rgi_overlay *m, int node) {
  char line[NEWS_BYTES];
  int n = snprintf(line, sizeof line, "regroup: node %s is lost (ranks",
                   rgi_overlay_nodes(m)[node].name);
  add_ranks(m, node, line, n);
  fprintf(stderr, "%s)\n", line);
}

void rgi_news_end(const rgi_overlay *m, int lost_nodes, int deaths) {
  if (lost_nodes)
    fprintf(stderr, "regroup: the job has ended well without %d of its %d nodes\n", lost_nodes,
            m->nodes);
  else if (deaths)
    fprintf(stderr, "regroup: the job has ended well without %d of its %d processes\n", deaths,
            m->world);
}

void rgi_news_left(rgi_overlay *m, int node) {
  const rgi_overlay_node *o = &rgi_overlay_nodes(m)[node];
  char line[NEWS_BYTES], address[INET_ADDRSTRLEN];
  if (!getenv("SLURM_STEP_ID"))
    return;
  int n = snprintf(line, sizeof line, "regroup: all have left node %s port %d at ", o->name,
                   ntohs(o->port));
  for (int i = 0; i < o->n; i++)
    n += snprintf(line + n, sizeof line - (size_t)n, i ? ",%s" : "%s",
                  inet_ntop(AF_INET, &o->address[i], address, sizeof address));
  n += snprintf(line + n, sizeof line - (size_t)n, " (ranks");
  add_ranks(m, node, line, n);
  fprintf(stderr, "%s)\n", line);
}
