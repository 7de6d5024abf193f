/* Json: cJSON documents from engine facts. cJSON is seen here and in the files that build documents; a document is freed when printed.
 *
 *     cJSON *document = cJSON_CreateObject();
 *     json_put(document, "stage", "dynamo");
 *     json_time(document, "ms", show, 1.5);       // null under --plain
 *     json_print(&text, document);                // one line
 */
#ifndef VITRINE_REPL_JSON_H
#define VITRINE_REPL_JSON_H
#include "repl/show.h"
#include "trace/snapshot.h"
#include <cjson/cJSON.h>

void json_put(cJSON *object, const char *name, const char *string);  /* any bytes; NULL gives null */
void json_add(cJSON *array, const char *string);
void json_number(cJSON *object, const char *name, double value);     /* not finite: null */
void json_integer(cJSON *object, const char *name, int64_t value);
void json_bool(cJSON *object, const char *name, bool value);
void json_time(cJSON *object, const char *name, const Show *show, double value);
cJSON *json_list(cJSON *object, const char *name);                   /* adds an empty array */
cJSON *json_object(cJSON *object, const char *name);
cJSON *json_item(cJSON *array);                                      /* adds an empty object */
void json_span(cJSON *object, Span span);                            /* "file", "line", "column", where it is somewhere */
void json_lines(cJSON *object, const char *name, const char *text);  /* the lines of a text, trimmed, empty ones left out */
cJSON *json_snapshot(const Snapshot *snapshot);
void json_print(Text *text, cJSON *document);                        /* and frees it */
#endif
