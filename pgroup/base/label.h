/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Labels: the names that the application gives to groups, for reports and error texts. A report
 * knows a group's context only, since the group may be freed while the report is made; the label
 * is found by the context. Any thread. */
#ifndef RGI_LABEL_H
#define RGI_LABEL_H

#include <stddef.h>
#include <stdint.h>

#define RGI_LABEL_MOST 63

typedef struct rgi_label rgi_label;

/* Gives *label this name; NULL, or an empty name, removes it. *label is NULL without a name. At
 * most RGI_LABEL_MOST bytes. RG_ERR_NOMEM. */
int rgi_label_set(rgi_label **label, uint64_t context, const char *name);

/* The name, "" for NULL. Valid until the label is set again. */
const char *rgi_label_name(const rgi_label *label);

/* For a text: " (group \"NAME\")" if a label has this context, else "". Returns text. */
#define RGI_LABEL_PHRASE (RGI_LABEL_MOST + 16)
const char *rgi_label_phrase(uint64_t context, char text[RGI_LABEL_PHRASE]);

#endif
