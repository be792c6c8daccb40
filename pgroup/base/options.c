/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Options are parsed into a copy of all settings, which replaces the present ones only when all are
 * good. Loading takes a lock; reading a value takes none, since rg_init, or the first call that
 * needs options, has loaded them before. */
#include "base/options.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <regroup/runtime.h>
#include <stdio.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/error.h"
#include "base/log.h"

typedef struct {
  double value;
  char text[256];
  const char *origin;
} option_setting;

static struct {
  pthread_mutex_t lock;
  int loaded;
  option_setting now[RGI_OPT_COUNT];
} options = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int parse_number(const char *values, int whole, const char *text, double *value) {
  char *end;
  double least = rgi_c_locale_number(values, &end);
  double most = rgi_c_locale_number(end + strlen(" to "), NULL);
  double x = rgi_c_locale_number(text, &end);
  if (end == text || *end || isspace((unsigned char)*text) || !isfinite(x))
    return 0;
  *value = x;
  return x >= least && x <= most && (!whole || x == floor(x));
}

static int parse_value(int i, const char *text, double *value) {
  const rgi_option_row *row = &rgi_option_table[i];
  if (row->kind == RGI_OPTION_NUMBER || row->kind == RGI_OPTION_COUNT)
    return parse_number(row->values, row->kind == RGI_OPTION_COUNT, text, value);
  *value = row->kind == RGI_OPTION_CHOICE ? rgi_option_word((rgi_options_id)i, text) : 0;
  return *value >= 0;
}

/* Gives option i the value in text; RG_ERR_OPTION if that is not one of its values. What a text may
 * be is known where it is used. */
static int assign_value(option_setting *settings, int i, const char *text, const char *origin) {
  if (!parse_value(i, text, &settings[i].value))
    return rgi_error(RG_ERR_OPTION, "%s=%.60s (from %s): expected %s", rgi_option_table[i].name,
                     text, origin, rgi_option_table[i].values);
  if (strlen(text) >= sizeof settings[i].text)
    return rgi_error(RG_ERR_OPTION, "%s=%.60s... (from %s): %zu bytes; at most %zu are possible",
                     rgi_option_table[i].name, text, origin, strlen(text),
                     sizeof settings[i].text - 1);
  strcpy(settings[i].text, text);
  settings[i].origin = origin;
  return RG_SUCCESS;
}

/* "timeout" in rg_init's string is RG_TIMEOUT. */
static int find_option(const char *name, size_t length) {
  for (int i = 0; i < RGI_OPT_COUNT; i++) {
    const char *own = rgi_option_table[i].name + strlen("RG_");
    size_t k = 0;
    while (k < length && own[k] && tolower((unsigned char)own[k]) == name[k])
      k++;
    if (k == length && !own[k])
      return i;
  }
  return -1;
}

static int assign_values(option_setting *settings, const char *string) {
  while (string && *string) {
    size_t length = strcspn(string, ",");
    size_t name = strcspn(string, "=,");
    char text[64] = "";
    int i = find_option(string, name);
    if (i < 0 || name == length)
      return rgi_error(RG_ERR_OPTION, "rg_init: \"%.*s\" is no option: see regroup-info",
                       (int)length, string);
    if (rgi_option_table[i].kind == RGI_OPTION_TEXT)
      return rgi_error(RG_ERR_OPTION, "rg_init: %s is set in the environment only",
                       rgi_option_table[i].name);
    snprintf(text, sizeof text, "%.*s", (int)(length - name - 1), string + name + 1);
    RGI_TRY(assign_value(settings, i, text, "rg_init"));
    string += length + (string[length] == ',');
  }
  return RG_SUCCESS;
}

static int load_locked(const char *string) {
  option_setting s[RGI_OPT_COUNT];
  for (int i = 0; i < RGI_OPT_COUNT; i++)
    RGI_TRY(assign_value(s, i, rgi_option_table[i].builtin, "default"));
  RGI_TRY(assign_values(s, string));
  for (int i = 0; i < RGI_OPT_COUNT; i++) {
    const char *text = rgi_option_text((rgi_options_id)i);
    if (text != rgi_option_table[i].builtin)
      RGI_TRY(assign_value(s, i, text, "environment"));
  }
  memcpy(options.now, s, sizeof s);
  options.loaded = 1;
  rgi_log_limit((rgi_log_level)s[RGI_OPT_LOG].value);
  return RG_SUCCESS;
}

int rgi_options_load(const char *string) {
  pthread_mutex_lock(&options.lock);
  int error = load_locked(string);
  pthread_mutex_unlock(&options.lock);
  return error;
}

int rgi_options_ready(void) {
  pthread_mutex_lock(&options.lock);
  int error = options.loaded ? RG_SUCCESS : load_locked(NULL);
  pthread_mutex_unlock(&options.lock);
  return error;
}

double rgi_options_value(rgi_options_id id) {
  return options.now[id].value;
}

int rgi_options_choice(rgi_options_id id) {
  return (int)options.now[id].value;
}

int rgi_options_known(const char *variable, size_t length) {
  for (int i = 0; i < RGI_OPT_COUNT; i++)
    if (strlen(rgi_option_table[i].name) == length &&
        strncmp(variable, rgi_option_table[i].name, length) == 0)
      return 1;
  return 0;
}

int rg_option_count(int *count) {
  RGI_REQUIRE(count);
  *count = RGI_OPT_COUNT;
  return RG_SUCCESS;
}

int rg_option_get(int i, const char **name, const char **value, const char **builtin,
                  const char **values, const char **meaning, const char **origin) {
  if (i < 0 || i >= RGI_OPT_COUNT)
    return rgi_error(RG_ERR_ARG, "rg_option_get: there is no option %d", i);
  RGI_TRY(rgi_options_ready());
  if (name)
    *name = rgi_option_table[i].name;
  if (value)
    *value = options.now[i].text;
  if (builtin)
    *builtin = rgi_option_table[i].builtin;
  if (values)
    *values = rgi_option_table[i].values;
  if (meaning)
    *meaning = rgi_option_table[i].meaning;
  if (origin)
    *origin = options.now[i].origin;
  return RG_SUCCESS;
}
