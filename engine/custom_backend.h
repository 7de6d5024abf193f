/* Custom backends: see custom_backend.c. */
#ifndef VITRINE_CUSTOM_BACKEND_H
#define VITRINE_CUSTOM_BACKEND_H
#include "session.h"

/* Asks the program's function for what is to run in the graph's place; kept in entry->runner. false: an exception is set. */
bool custom_backend_compile(Entry *entry, Value backend);
Value custom_backend_run(Entry *entry, Value *args, int nargs);
void custom_backend_release(Entry *entry);
void custom_backend_define(VM *vm);
#endif
