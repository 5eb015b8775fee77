/* Back-off: how long a spin lock's waiter sleeps after each refusal, and which values make no sense. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "src/engine/back_off.h"
#include "tests/support/test.h"

#include <string.h>

#define DRAWS 300 /* of a random addend of three values and more: each comes up */

/* The least and the most of many draws. */
static void assert_range(const rlock_back_off *back_off, int denied, int64_t least_ms, int64_t most_ms)
{
    int64_t lowest_ms = INT64_MAX, highest_ms = 0;
    for (int i = 0; i < DRAWS; i++) {
        int64_t ms = rli_back_off_ms(back_off, denied);
        lowest_ms = ms < lowest_ms ? ms : lowest_ms;
        highest_ms = ms > highest_ms ? ms : highest_ms;
    }
    cr_assert(lowest_ms == least_ms && highest_ms == most_ms, "after %d: %lld…%lld, not %lld…%lld", denied,
              (long long)lowest_ms, (long long)highest_ms, (long long)least_ms, (long long)most_ms);
}

/* Redisson's example: 10 ms, at most 100 ms, three times as long each time. */
Test(back_off, grows_with_an_addend_that_grows_by_one)
{
    rlock_back_off read, back_off = RLOCK_BACK_OFF_INIT;
    back_off.initial_ms = 10;
    back_off.max_ms = 100;
    back_off.multiplier = 3;
    assert_ok(rli_back_off_read(&read, &back_off));
    assert_range(&back_off, 0, 10, 10);
    assert_range(&back_off, 1, 30, 31);
    assert_range(&back_off, 2, 90, 92);
    for (int denied = 3; denied < 20; denied++)
        assert_range(&back_off, denied, 100, 100);
}

Test(back_off, constant_one_is_exact)
{
    rlock_back_off read, back_off = RLOCK_BACK_OFF_CONSTANT_INIT(30);
    assert_ok(rli_back_off_read(&read, &back_off));
    for (int denied = 0; denied < 100; denied++)
        assert_range(&back_off, denied, 30, 30);
}

Test(back_off, default_goes_from_1_to_128_ms)
{
    rlock_back_off back_off = RLOCK_BACK_OFF_INIT;
    cr_assert(back_off.initial_ms == 1 && back_off.max_ms == 128 && back_off.multiplier == 2);
    assert_range(&back_off, 0, 1, 1);
    assert_range(&back_off, 1, 2, 3);
    assert_range(&back_off, 2, 4, 6);
    assert_range(&back_off, 3, 8, 11);
    for (int denied = 7; denied < 30; denied++)
        assert_range(&back_off, denied, 128, 128);
}

/* The greatest values, after any number of refusals: nothing overflows, nothing is above the most. */
Test(back_off, never_leaves_its_range)
{
    static const int64_t initials_ms[] = {1, 2, 86399999, 86400000};
    static const int64_t multipliers[] = {1, 2, 999, 1000};
    static const int denials[] = {0, 1, 5, 64, 1000000, 2147483647};
    for (size_t i = 0; i < 4; i++) {
        for (size_t m = 0; m < 4; m++) {
            for (size_t d = 0; d < 6; d++) {
                rlock_back_off read, back_off = RLOCK_BACK_OFF_INIT;
                back_off.initial_ms = initials_ms[i];
                back_off.max_ms = 86400000;
                back_off.multiplier = multipliers[m];
                assert_ok(rli_back_off_read(&read, &back_off));
                assert_between(rli_back_off_ms(&back_off, denials[d]), initials_ms[i], 86400000);
            }
        }
    }
}

/* An initial pause above the most is cut to it. */
Test(back_off, most_holds_for_the_first_pause_too)
{
    rlock_back_off back_off = RLOCK_BACK_OFF_INIT;
    back_off.initial_ms = 50;
    back_off.max_ms = 20;
    assert_range(&back_off, 0, 20, 20);
    assert_range(&back_off, 9, 20, 20);
}

Test(back_off, value_that_makes_no_sense_is_named)
{
    static const int64_t values[] = {0, -1, INT64_MIN, 86400001, INT64_MAX};
    static const char *const names[] = {"initial_ms", "max_ms", "multiplier"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        for (int field = 0; field < 3; field++) {
            rlock_back_off read, back_off = RLOCK_BACK_OFF_INIT;
            *(field == 0 ? &back_off.initial_ms : field == 1 ? &back_off.max_ms : &back_off.multiplier) = values[i];
            assert_status(rli_back_off_read(&read, &back_off), RLOCK_INVALID);
            cr_assert(strstr(rlock_last_error(), names[field]) != NULL, "said: %s", rlock_last_error());
        }
    }
}

Test(back_off, struct_of_another_size_is_refused)
{
    rlock_back_off read, back_off = RLOCK_BACK_OFF_INIT;
    back_off.size = 0;
    assert_status(rli_back_off_read(&read, &back_off), RLOCK_INVALID);
    assert_error("RLOCK_BACK_OFF_INIT");
}
