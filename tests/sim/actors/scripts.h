/* Scripts of the actors: what Redisson's have as their effect by the wire contract, in words of our own. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_ACTORS_SCRIPTS_H
#define SIM_ACTORS_SCRIPTS_H

typedef enum script {
    TOKEN_ACQUIRE, TOKEN_RELEASE, TOKEN_FORCE, TOKEN_RENEW, SIGNAL_RELEASE, SIGNAL_FORCE, LOCK_ACQUIRE, FENCED_ACQUIRE, LOCK_RELEASE, SPIN_RELEASE, LOCK_FORCE, LOCK_RENEW,
    FAIR_ACQUIRE, FAIR_TRY, FAIR_GIVE_UP, FAIR_RELEASE, FAIR_FORCE,
    READ_ACQUIRE, READ_RELEASE, READ_FORCE, READ_RENEW, WRITE_ACQUIRE, WRITE_RELEASE, WRITE_FORCE, WRITE_RENEW,
    SCRIPT_SEM_SET, SCRIPT_SEM_ACQUIRE, SCRIPT_SEM_RELEASE, SCRIPT_SEM_ADD, SCRIPT_SEM_DRAIN,
    SCRIPT_PERMIT_SET, SCRIPT_PERMIT_ACQUIRE, SCRIPT_PERMIT_RELEASE, SCRIPT_PERMIT_UPDATE, SCRIPT_PERMIT_STATE,
    SCRIPT_LATCH_SET, SCRIPT_LATCH_DOWN,
    SCRIPTS
} script;

const char *script_text(script of);
/* By its hash; NULL: it is none of theirs. "redisson fair/acquire". */
const char *actor_script_name(const char *sha1);

#endif
