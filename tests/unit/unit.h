/* Unit: what every unit test begins with and ends with.
 *
 *     #include "unit.h"
 *     START_TEST(two_and_two) { ck_assert_int_eq(2 + 2, 4); } END_TEST
 *     int main(void) { const TTest *tests[] = {two_and_two}; return UNIT_RUN("sums", tests, NULL, NULL); }
 *
 * setup and teardown (or NULL) run around each test, in the child process that the test gets.
 * CK_FORK=no runs all in one process, for a debugger. */
#ifndef VITRINE_TESTS_UNIT_H
#define VITRINE_TESTS_UNIT_H
#include <check.h>
#undef fail /* Check's old macros; the first is a function of base/fail.h */
#undef fail_if
#undef fail_unless
#include <stdlib.h>

static inline int unit_run(const char *name, const TTest *const *tests, int count, void (*setup)(void), void (*teardown)(void)) {
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 240); /* on a machine that is busy with other things */
    tcase_add_checked_fixture(tcase, setup, teardown);
    for (int i = 0; i < count; i++) tcase_add_test(tcase, tests[i]);
    Suite *suite = suite_create(name);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define UNIT_RUN(name, tests, setup, teardown) \
    unit_run((name), (tests), (int)(sizeof(tests) / sizeof *(tests)), (setup), (teardown))
#endif
