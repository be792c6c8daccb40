/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * One line for each loss, and for the end. The rest of regroup-run's knowledge comes from the
 * launcher. */
#include "noded/daemon/news.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NEWS_BYTES 4000  /* of a line with its mark; regroup-run looks at no more */
#define RANKS_BYTES 3800 /* of a line with ranks: the mark comes before it */

int rgi_news_are_wanted(void) {
  return getenv(RGI_NEWS_MARK) != NULL;
}

void rgi_news_print(const char *format, ...) {
  char line[NEWS_BYTES];
  const char *mark = getenv(RGI_NEWS_MARK);
  int n = snprintf(line, sizeof line, "%.*s", NEWS_BYTES / 2, mark ? mark : "");
  va_list more;
  va_start(more, format);
  int rest = vsnprintf(line + n, sizeof line - (size_t)n, format, more);
  va_end(more);
  n = rest < 0 ? n : n + rest < NEWS_BYTES ? n + rest : NEWS_BYTES - 1;
  for (int done = 0, some; done < n; done += some)
    if ((some = (int)write(STDERR_FILENO, line + done, (size_t)(n - done))) <= 0)
      return;
}

void rgi_news_early(const char *rank) {
  if (rgi_news_are_wanted())
    rgi_news_print("regroup: rank %s" RGI_NEWS_EARLY "\n", rank);
}

/* The ranks of a node, as ranges, behind what is in the line. */
static void add_ranks(rgi_overlay *overlay, int node, char *line, int n) {
  const int32_t *of = rgi_overlay_rank_nodes(overlay);
  for (int i = 0, first = 1; i < overlay->world; i++) {
    int begin = i;
    while (of[i] == node && i + 1 < overlay->world && of[i + 1] == node)
      i++;
    if (of[i] != node || n > RANKS_BYTES - 32)
      continue;
    n += snprintf(line + n, (size_t)(RANKS_BYTES - n), begin < i ? "%c%d-%d" : "%c%d",
                  first ? ' ' : ',', begin, i);
    first = 0;
  }
}

void rgi_news_loss(rgi_overlay *overlay, int node) {
  char line[NEWS_BYTES];
  int n = snprintf(line, sizeof line, "regroup: node %s is lost (ranks",
                   rgi_overlay_nodes(overlay)[node].name);
  add_ranks(overlay, node, line, n);
  rgi_news_print("%s)\n", line);
}

void rgi_news_end(const rgi_overlay *overlay, int lost_nodes, int deaths) {
  if (lost_nodes)
    rgi_news_print("regroup: the job has ended well without %d of its %d nodes\n", lost_nodes,
                   overlay->nodes);
  else if (deaths)
    rgi_news_print("regroup: the job has ended well without %d of its %d processes\n", deaths,
                   overlay->world);
}

void rgi_news_left(rgi_overlay *overlay, int node) {
  const rgi_overlay_node *record = &rgi_overlay_nodes(overlay)[node];
  char line[NEWS_BYTES], address[INET_ADDRSTRLEN];
  if (!getenv("SLURM_STEP_ID"))
    return;
  int n = snprintf(line, sizeof line, "regroup: all have left node %s port %d at ", record->name,
                   ntohs(record->port));
  for (int i = 0; i < record->n; i++)
    n += snprintf(line + n, sizeof line - (size_t)n, i ? ",%s" : "%s",
                  inet_ntop(AF_INET, &record->address[i], address, sizeof address));
  n += snprintf(line + n, sizeof line - (size_t)n, " (ranks");
  add_ranks(overlay, node, line, n);
  rgi_news_print("%s)\n", line);
}
