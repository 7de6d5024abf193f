/* Work: one run of the front end over one text, with an arena of its own for all that goes when it is done.
 *
 *     LangWork work = {.file = file};
 *     lang_work(session, &work, body);   // body(work) may fail(); what stays it puts into work->keep
 *
 * Invariant: whether the body fails or not, the scratch arena is freed, and a failure is passed on to the session's. */
#ifndef VITRINE_LANG_WORK_H
#define VITRINE_LANG_WORK_H
#include "lang/code.h"

typedef struct LangWork LangWork;
struct LangWork {
    LangSession session;      /* the caller's, but for its arena (scratch) and failure */
    Arena *keep;              /* the caller's arena */
    void (*body)(LangWork *work);
    const SourceFile *file;
    bool interactive;
    const char *name, **params; /* lang_compile_expression */
    int param_count;
    Program *program;         /* results */
    Code *code;
    Signature *signature;
};

void lang_work(LangSession *session, LangWork *work, void (*body)(LangWork *work));
void lang_work_run(void *work);
#endif
