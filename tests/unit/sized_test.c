/* Structs that say how long they are: which lengths are taken, and what becomes of the fields. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "src/base/sized.h"
#include "tests/support/test.h"

#include <stdint.h>

/* A struct that had two fields when it began, has three now, and will have four. */
typedef struct first {
    size_t size;
    int64_t wait_ms;
} first;
typedef struct now {
    size_t size;
    int64_t wait_ms;
    int64_t lease_ms;
} now;
typedef struct later {
    size_t size;
    int64_t wait_ms;
    int64_t lease_ms;
    int64_t pause_ms;
} later;

static const rli_sized sized = RLI_SIZED(now, wait_ms, "options", "NOW_INIT");

static rlock_status take(now *full, const void *given)
{
    *full = (now){sizeof *full, 1, 2};
    return rli_sized_read(full, given, &sized);
}

Test(sized, struct_of_an_older_program_leaves_defaults_for_what_it_lacks)
{
    now full;
    first given = {sizeof given, 7};
    assert_ok(take(&full, &given));
    cr_assert(full.wait_ms == 7 && full.lease_ms == 2 && full.size == sizeof given);
}

Test(sized, struct_of_this_version_is_taken_whole)
{
    now full, given = {sizeof given, 7, 8};
    assert_ok(take(&full, &given));
    cr_assert(full.wait_ms == 7 && full.lease_ms == 8);
}

/* Its further field is as if it were not there. */
Test(sized, struct_of_a_newer_program_is_taken_when_it_asks_for_nothing_new)
{
    now full;
    later given = {sizeof given, 7, 8, 0};
    assert_ok(take(&full, &given));
    cr_assert(full.wait_ms == 7 && full.lease_ms == 8);
}

Test(sized, struct_of_a_newer_program_that_asks_for_more_is_refused)
{
    now full;
    later given = {sizeof given, 7, 8, 9};
    assert_status(take(&full, &given), RLOCK_INVALID);
    assert_error("options->size is 32", "24 bytes", "newer");
}

/* A forgotten initializer leaves any number there. */
Test(sized, size_of_no_version_is_refused)
{
    static const size_t sizes[] = {0, 1, 8, 15, 17, 23, 25, 4104, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        now full, given = {sizes[i], 7, 8};
        assert_status(take(&full, &given), RLOCK_INVALID);
        assert_error("options->size", "NOW_INIT");
    }
    now full;
    assert_status(take(&full, NULL), RLOCK_INVALID);
    assert_error("options must not be NULL", "NOW_INIT");
}
