/* Label: an item's text in the forms that Graphviz reads. Escaping of everything that is drawn happens here and nowhere else. */
#ifndef VITRINE_VIZ_LABEL_H
#define VITRINE_VIZ_LABEL_H
#include "base/text.h"
#include "trace/snapshot.h"

/* An HTML-like label: title (bold), id, badge of the mark, rows; long text is cut, long code too. */
void label_item(Text *text, const SnapshotItem *item);
/* `string` as the contents of an HTML-like label: one line, at most `columns` wide (0: all of it). */
void label_html(Text *text, const char *string, int columns);
/* `string` for an attribute that Graphviz reads as an escString (tooltip, edge label): newlines kept, no escapes left to expand. */
void label_plain(Text *text, const char *string);
/* What hovering shows: id, all rows, detail, source line. */
void label_tooltip(Text *text, const SnapshotItem *item);
#endif
