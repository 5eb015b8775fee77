/* Semaphores and latches answer, and leave in the keyspace, what models of them say. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/stage.h"
#include "tests/model/support/latch_subject.h"
#include "tests/model/support/permit_subject.h"
#include "tests/model/support/semaphore_subject.h"

TestSuite(model_semaphore, .init = stage_open, .fini = stage_close);

Test(model_semaphore, has_the_answers_and_keyspace_of_the_semaphore)
{
    assert_semaphore_as_modelled(NULL, NULL, 160, 60);
}

Test(model_semaphore, has_the_answers_and_keyspace_of_the_latch)
{
    assert_latch_as_modelled(NULL, NULL, 160, 60);
}

Test(model_semaphore, has_the_answers_and_keyspace_of_the_permit_expirable_semaphore)
{
    assert_permits_as_modelled(NULL, NULL, 100, 60);
}
