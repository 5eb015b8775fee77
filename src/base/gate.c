/* A gate: whether a client is open, and how many references it has. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gate.h"

#include "base/error.h"
#include "base/forked.h"
#include "base/list.h"

void rli_gate_init(rli_gate *gate, void (*unneeded)(rli_gate *gate))
{
    gate->generation = rli_fork_generation();
    gate->unneeded = unneeded;
    gate->sleepers = NULL;
    atomic_init(&gate->references, 1);
    atomic_init(&gate->closed, false);
    pthread_mutex_init(&gate->mutex, NULL);
    rli_bell_init(&gate->bell);
}

void rli_gate_destroy(rli_gate *gate)
{
    rli_bell_destroy(&gate->bell);
    pthread_mutex_destroy(&gate->mutex);
}

bool rli_gate_is_forked(const rli_gate *gate)
{
    return rli_fork_generation() != gate->generation;
}

rlock_status rli_gate_check_open(const rli_gate *gate)
{
    if (atomic_load_explicit(&gate->closed, memory_order_acquire))
        return rli_fail(RLOCK_CLOSED, "the client was closed");
    return RLOCK_OK;
}

rlock_status rli_gate_check(const rli_gate *gate)
{
    if (rli_gate_is_forked(gate))
        return rli_fail(RLOCK_FORKED, "the client was opened by the parent process; open another after fork()");
    return rli_gate_check_open(gate);
}

void rli_gate_ref(rli_gate *gate)
{
    atomic_fetch_add(&gate->references, 1);
}

void rli_gate_unref(rli_gate *gate)
{
    if (!rli_gate_is_forked(gate) && atomic_fetch_sub(&gate->references, 1) == 1)
        gate->unneeded(gate);
}

bool rli_gate_list(rli_gate *gate, rli_sleeper *sleeper)
{
    pthread_mutex_lock(&gate->mutex);
    RLI_LIST_ADD(gate->sleepers, sleeper);
    pthread_mutex_unlock(&gate->mutex);
    /* rli_gate_close may have gone through the list just before. If so, `closed` is set by now; if not, it will find
     * this sleeper. */
    return !atomic_load(&gate->closed);
}

void rli_gate_unlist(rli_gate *gate, rli_sleeper *sleeper)
{
    pthread_mutex_lock(&gate->mutex);
    RLI_LIST_REMOVE(gate->sleepers, sleeper);
    pthread_mutex_unlock(&gate->mutex);
}

void rli_gate_close(rli_gate *gate)
{
    atomic_store(&gate->closed, true);
    pthread_mutex_lock(&gate->mutex);
    for (rli_sleeper *sleeper = gate->sleepers; sleeper; sleeper = sleeper->next)
        rli_unpark(sleeper->parker);
    pthread_mutex_unlock(&gate->mutex);
}
