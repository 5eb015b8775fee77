/* Exclusive locks of each kind answer, and leave in the keyspace, what a model of them says. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/stage.h"
#include "tests/model/support/lock_subject.h"

TestSuite(model, .init = stage_open, .fini = stage_close);

#define SEQUENCES 80
#define LENGTH 60

static void assert_kind(const kind *of)
{
    char name[64];
    snprintf(name, sizeof name, "%s lock", of->name);
    lock_cast alone = {.name = name, .kinds = {of}, .kind_count = 1};
    assert_locks_as_modelled(&alone, SEQUENCES, LENGTH);
}

Test(model, has_the_answers_and_keyspace_of_the_reentrant_lock)
{
    assert_kind(&kind_reentrant);
}

Test(model, has_the_answers_and_keyspace_of_the_spin_lock)
{
    assert_kind(&kind_spin);
}

Test(model, has_the_answers_and_keyspace_of_the_fenced_lock)
{
    assert_kind(&kind_fenced);
}

Test(model, has_the_answers_and_keyspace_of_the_non_reentrant_lock)
{
    assert_kind(&kind_non_reentrant);
}

Test(model, has_the_answers_and_keyspace_of_the_fair_lock)
{
    assert_kind(&kind_fair);
}

Test(model, has_the_answers_and_keyspace_of_the_non_reentrant_fair_lock)
{
    assert_kind(&kind_non_reentrant_fair);
}

/* An owner's holds of one name are one, whatever kind of handle they were taken with. */
Test(model, has_the_answers_and_keyspace_of_all_exclusive_locks_on_one_name)
{
    static const lock_cast together = {
        .name = "lock of mixed kinds",
        .kinds = {&kind_reentrant, &kind_spin, &kind_fenced, &kind_non_reentrant, &kind_fair},
        .kind_count = 5,
    };
    assert_locks_as_modelled(&together, SEQUENCES, LENGTH);
}
