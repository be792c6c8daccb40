/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * All labels of the process are in one list, under a lock: few groups have names, and only reports
 * look for them. Each handle of the world group may have a label of its own with the same
 * context; the newest one is found. */
#include "base/label.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct rgi_label {
  rgi_label *previous, *next;
  uint64_t context;
  char name[RGI_LABEL_MOST + 1];
};

static struct {
  pthread_mutex_t lock;
  rgi_label *newest;
} labels = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void link_locked(rgi_label *label) {
  label->next = labels.newest;
  if (label->next)
    label->next->previous = label;
  labels.newest = label;
}

static void unlink_locked(rgi_label *label) {
  if (label->previous)
    label->previous->next = label->next;
  else
    labels.newest = label->next;
  if (label->next)
    label->next->previous = label->previous;
}

int rgi_label_set(rgi_label **label, uint64_t context, const char *name) {
  rgi_label *fresh = NULL, *old = *label;
  if (!old && !(name && *name))
    return RG_SUCCESS;
  if (name && *name) {
    fresh = calloc(1, sizeof *fresh);
    if (!fresh)
      return rgi_error(RG_ERR_NOMEM, "no memory for the name of a group");
    fresh->context = context;
    snprintf(fresh->name, sizeof fresh->name, "%s", name);
  }
  pthread_mutex_lock(&labels.lock);
  if (old)
    unlink_locked(old);
  if (fresh)
    link_locked(fresh);
  pthread_mutex_unlock(&labels.lock);
  free(old);
  *label = fresh;
  return RG_SUCCESS;
}

const char *rgi_label_name(const rgi_label *label) {
  return label ? label->name : "";
}

const char *rgi_label_phrase(uint64_t context, char text[RGI_LABEL_PHRASE]) {
  text[0] = 0;
  pthread_mutex_lock(&labels.lock);
  const rgi_label *found = context ? labels.newest : NULL;
  while (found && found->context != context)
    found = found->next;
  if (found)
    snprintf(text, RGI_LABEL_PHRASE, " (group \"%s\")", found->name);
  pthread_mutex_unlock(&labels.lock);
  return text;
}
