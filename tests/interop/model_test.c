/* Redisson does what the models of tests/model say, alone and in turns with C on the same names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/support/java.h"
#include "tests/interop/support/model_java.h"
#include "tests/model/support/latch_subject.h"
#include "tests/model/support/permit_subject.h"
#include "tests/model/support/semaphore_subject.h"

TestSuite(model, .init = java_stage, .fini = java_stage_close);

#define SEQUENCES 16
#define LENGTH 40

/* By Redisson alone; then by Redisson as client B and the library as client A. */
static void assert_locks(const char *name, const kind *first, const kind *second)
{
    char words[64];
    for (int mixed = 0; mixed < 2; mixed++) {
        snprintf(words, sizeof words, "%s lock of %s", name, mixed ? "C and Java" : "Java");
        lock_cast cast = {
            .name = words,
            .kinds = {first, second},
            .kind_count = second ? 2 : 1,
            .act = {mixed ? NULL : java_plays_lock, java_plays_lock},
            .id = java_model_id,
        };
        assert_locks_as_modelled(&cast, SEQUENCES, LENGTH);
    }
}

Test(model, of_the_reentrant_lock_is_that_of_java)
{
    assert_locks("reentrant", &kind_reentrant, NULL);
}

Test(model, of_the_spin_lock_is_that_of_java)
{
    assert_locks("spin", &kind_spin, NULL);
}

Test(model, of_the_fenced_lock_is_that_of_java)
{
    assert_locks("fenced", &kind_fenced, NULL);
}

Test(model, of_the_non_reentrant_lock_is_that_of_java)
{
    assert_locks("non-reentrant", &kind_non_reentrant, NULL);
}

Test(model, of_the_fair_lock_is_that_of_java)
{
    assert_locks("fair", &kind_fair, NULL);
}

Test(model, of_the_non_reentrant_fair_lock_is_that_of_java)
{
    assert_locks("non-reentrant fair", &kind_non_reentrant_fair, NULL);
}

Test(model, of_the_read_write_lock_is_that_of_java)
{
    assert_locks("read-write", &kind_read, &kind_write);
}

Test(model, of_the_semaphore_is_that_of_java)
{
    assert_semaphore_as_modelled(java_plays_semaphore, java_plays_semaphore, SEQUENCES, LENGTH);
    assert_semaphore_as_modelled(NULL, java_plays_semaphore, SEQUENCES, LENGTH);
}

Test(model, of_the_latch_is_that_of_java)
{
    assert_latch_as_modelled(java_plays_latch, java_plays_latch, SEQUENCES, LENGTH);
    assert_latch_as_modelled(NULL, java_plays_latch, SEQUENCES, LENGTH);
}

Test(model, of_the_permit_expirable_semaphore_is_that_of_java)
{
    assert_permits_as_modelled(java_plays_permits, java_plays_permits, SEQUENCES, LENGTH);
    assert_permits_as_modelled(NULL, java_plays_permits, SEQUENCES, LENGTH);
}
