/* Json: building documents.
 *
 * In: strings of any bytes, numbers. Out: cJSON trees whose strings are valid UTF-8 and whose numbers are finite.
 * Invariant: fields are printed in the order in which they were added. */
#include "repl/json.h"
#include <math.h>
#include <string.h>

/* Malformed bytes become U+FFFD; cJSON escapes the rest. */
static cJSON *string_of(const char *string) {
    if (!string) return cJSON_CreateNull();
    Text text = {0};
    for (const char *at = string; *at;) {
        uint32_t code;
        int bytes = utf8_decode(at, strnlen(at, 4), &code);
        if (bytes) text_put_n(&text, at, (size_t)bytes);
        else text_put(&text, "\xef\xbf\xbd");
        at += bytes ? bytes : 1;
    }
    cJSON *made = cJSON_CreateString(text_cstr(&text));
    text_free(&text);
    return made;
}

void json_put(cJSON *object, const char *name, const char *string) { cJSON_AddItemToObject(object, name, string_of(string)); }
void json_add(cJSON *array, const char *string) { cJSON_AddItemToArray(array, string_of(string)); }

void json_number(cJSON *object, const char *name, double value) {
    cJSON_AddItemToObject(object, name, isfinite(value) ? cJSON_CreateNumber(value) : cJSON_CreateNull());
}

void json_integer(cJSON *object, const char *name, int64_t value) { json_number(object, name, (double)value); }
void json_bool(cJSON *object, const char *name, bool value) { cJSON_AddItemToObject(object, name, cJSON_CreateBool(value)); }

void json_time(cJSON *object, const char *name, const Show *show, double value) {
    json_number(object, name, show->plain ? (double)NAN : value);
}

cJSON *json_list(cJSON *object, const char *name) { return cJSON_AddArrayToObject(object, name); }
cJSON *json_object(cJSON *object, const char *name) { return cJSON_AddObjectToObject(object, name); }

cJSON *json_item(cJSON *array) {
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToArray(array, item);
    return item;
}

void json_span(cJSON *object, Span span) {
    if (!span.file) return;
    json_put(object, "file", span.file->name);
    json_integer(object, "line", span_line(span));
    json_integer(object, "column", span_column(span));
}

void json_lines(cJSON *object, const char *name, const char *text) {
    cJSON *list = json_list(object, name);
    Text line = {0};
    for (const char *at = text; at && *at;) {
        size_t length = strcspn(at, "\n"), start = strspn(at, " \t"), end = length;
        while (end > start && strchr(" \t\r", at[end - 1])) end--;
        if (start < end) {
            text_clear(&line);
            text_put_n(&line, at + start, end - start);
            json_add(list, text_cstr(&line));
        }
        at += length + (at[length] == '\n');
    }
    text_free(&line);
}

static void put_optional(cJSON *object, const char *name, const char *string) {
    if (string) json_put(object, name, string);
}

static void put_item(cJSON *list, const SnapshotItem *item) {
    cJSON *object = json_item(list);
    json_put(object, "id", item->id);
    json_put(object, "kind", item->kind);
    json_put(object, "title", item->title);
    cJSON *rows = json_list(object, "rows");
    for (int i = 0; i < item->rows.count; i++) json_add(rows, item->rows.at[i]);
    put_optional(object, "group", item->group);
    put_optional(object, "mark", item->mark);
    put_optional(object, "detail", item->detail);
    json_span(object, item->span);
    if (item->length <= 0) return;
    json_number(object, "start", item->start);
    json_number(object, "length", item->length);
}

static void put_links(cJSON *document, const Snapshot *snapshot) {
    cJSON *list = json_list(document, "links");
    for (int i = 0; i < snapshot->links.count; i++) {
        cJSON *object = json_item(list);
        json_put(object, "from", snapshot->links.at[i].from);
        json_put(object, "to", snapshot->links.at[i].to);
        put_optional(object, "label", snapshot->links.at[i].label);
        json_put(object, "kind", snapshot->links.at[i].kind);
    }
}

static void put_groups(cJSON *document, const Snapshot *snapshot) {
    cJSON *list = json_list(document, "groups");
    for (int i = 0; i < snapshot->groups.count; i++) {
        cJSON *object = json_item(list);
        json_put(object, "id", snapshot->groups.at[i].id);
        json_put(object, "kind", snapshot->groups.at[i].kind);
        json_put(object, "title", snapshot->groups.at[i].title);
        put_optional(object, "parent", snapshot->groups.at[i].parent);
    }
}

cJSON *json_snapshot(const Snapshot *snapshot) {
    cJSON *document = cJSON_CreateObject();
    json_put(document, "stage", snapshot->stage);
    json_put(document, "title", snapshot->title);
    cJSON *items = json_list(document, "items");
    for (int i = 0; i < snapshot->items.count; i++) put_item(items, &snapshot->items.at[i]);
    put_links(document, snapshot);
    put_groups(document, snapshot);
    put_optional(document, "text", snapshot->text);
    return document;
}

void json_print(Text *text, cJSON *document) {
    char *printed = cJSON_PrintUnformatted(document);
    if (printed) text_put(text, printed);
    text_char(text, '\n');
    cJSON_free(printed);
    cJSON_Delete(document);
}
