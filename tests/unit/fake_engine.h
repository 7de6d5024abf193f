/* Fake engine: see fake_engine.c. */
#ifndef VITRINE_TESTS_FAKE_ENGINE_H
#define VITRINE_TESTS_FAKE_ENGINE_H
#include "engine.h"
const char *fake_ran(void); /* "name:line:text|" for each line that was run; '=' behind it when values are printed */
#endif
