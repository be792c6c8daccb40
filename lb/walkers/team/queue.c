/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Walkers that wait are an array: the longest RGI_QUEUE_SHOWN in order, which policies see, and a
 * binary heap of the others behind them. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/spare.h"
#include "walkers/team/queue.h"

int rgi_queue_add(rgi_queue *queue, const rgi_queue_entry *entry) {
  RGI_TRY(rgi_grow(&queue->at, queue->count, &queue->room, sizeof *queue->at,
                   "no memory for %lld walkers"));
  queue->at[queue->count++] = *entry;
  return RG_SUCCESS;
}

static int comes_before(const rgi_queue_entry *a, const rgi_queue_entry *b) {
  return a->left != b->left ? a->left > b->left : a->order < b->order;
}

static int by_length(const void *a, const void *b) {
  return comes_before(a, b) ? -1 : comes_before(b, a);
}

void rgi_queue_sort(rgi_queue *queue, int fixed) {
  for (int i = 0; i < queue->count; i++)
    queue->at[i].order = i;
  queue->order = queue->count;
  if (queue->count > fixed)
    qsort(queue->at + fixed, (size_t)(queue->count - fixed), sizeof *queue->at, by_length);
}

/* --- a heap behind the first ones ----------------------------------------------------------- */

static void sift_up(rgi_queue_entry heap[], int at, const rgi_queue_entry *entry) {
  for (; at > 0 && comes_before(entry, &heap[(at - 1) / 2]); at = (at - 1) / 2)
    heap[at] = heap[(at - 1) / 2];
  heap[at] = *entry;
}

static void sift_down(rgi_queue_entry heap[], int count, int at, const rgi_queue_entry *entry) {
  for (int child; (child = 2 * at + 1) < count; at = child) {
    child += child + 1 < count && comes_before(&heap[child + 1], &heap[child]);
    if (!comes_before(&heap[child], entry))
      break;
    heap[at] = heap[child];
  }
  heap[at] = *entry;
}

/* Takes one of `count`; the last one fills the gap. */
static rgi_queue_entry take_from_heap(rgi_queue_entry heap[], int count, int at) {
  rgi_queue_entry taken = heap[at], last = heap[count - 1];
  if (at == count - 1)
    return taken;
  if (at > 0 && comes_before(&last, &heap[(at - 1) / 2]))
    sift_up(heap, at, &last);
  else
    sift_down(heap, count - 1, at, &last);
  return taken;
}

void rgi_queue_put_in(rgi_queue_entry at[], int *count, const rgi_queue_entry *entry) {
  int n = (*count)++, first = n < RGI_QUEUE_SHOWN ? n : RGI_QUEUE_SHOWN, place = first;
  rgi_queue_entry own = *entry;
  while (place > 0 && comes_before(&own, &at[place - 1]))
    place--;
  if (place < first) {
    rgi_queue_entry last = at[first - 1];
    memmove(at + place + 1, at + place, (size_t)(first - 1 - place) * sizeof *at);
    at[place] = own;
    own = last;
  }
  if (n < RGI_QUEUE_SHOWN)
    at[n] = own;
  else
    sift_up(at + RGI_QUEUE_SHOWN, n - RGI_QUEUE_SHOWN, &own);
}

rgi_queue_entry rgi_queue_take_out(rgi_queue_entry at[], int *count, int which) {
  int rest = *count - RGI_QUEUE_SHOWN, first = rest > 0 ? RGI_QUEUE_SHOWN : *count;
  rgi_queue_entry *heap = at + RGI_QUEUE_SHOWN, taken = at[which];
  --*count;
  if (which >= RGI_QUEUE_SHOWN)
    return take_from_heap(heap, rest, which - RGI_QUEUE_SHOWN);
  memmove(at + which, at + which + 1, (size_t)(first - which - 1) * sizeof *at);
  if (rest > 0)
    at[first - 1] = take_from_heap(heap, rest, 0);
  return taken;
}

int rgi_queue_insert(rgi_queue *queue, const rgi_queue_entry *entry) {
  rgi_queue_entry own = *entry;
  own.order = queue->order++;
  RGI_TRY(rgi_queue_add(queue, &own));
  queue->count--;
  rgi_queue_put_in(queue->at, &queue->count, &own);
  return RG_SUCCESS;
}

rgi_queue_entry rgi_queue_take(rgi_queue *queue, int at) {
  return rgi_queue_take_out(queue->at, &queue->count, at);
}

void rgi_queue_free(rgi_queue *queue) {
  for (int i = 0; i < queue->count; i++)
    rgi_spare_free(queue->at[i].memory);
  rgi_spare_free(queue->at);
  *queue = (rgi_queue){0};
}

void rgi_queue_show(const rgi_queue_entry *at, int count, rg_waiting_walker waiting[]) {
  for (int i = 0; i < count; i++)
    waiting[i] = (rg_waiting_walker){.id = at[i].id,
                                     .least = at[i].least,
                                     .most = at[i].most,
                                     .left = at[i].left,
                                     .unit = at[i].unit > 0 ? at[i].unit : RG_LOAD_UNKNOWN};
}
