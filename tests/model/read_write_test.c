/* The two sides of a read-write lock answer, and leave in the keyspace, what a model of them says. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/support/stage.h"
#include "tests/model/support/lock_subject.h"

TestSuite(model_read_write, .init = stage_open, .fini = stage_close);

Test(model_read_write, has_the_answers_and_keyspace_of_both_sides)
{
    static const lock_cast both = {
        .name = "read-write lock", .kinds = {&kind_read, &kind_write}, .kind_count = 2};
    assert_locks_as_modelled(&both, 120, 60);
}
