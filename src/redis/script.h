/* Scripts: the Lua files under lua/, embedded at build. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SCRIPT_H
#define RLI_SCRIPT_H

typedef struct rli_script {
    const char *sha1; /* what EVALSHA wants, 40 hex digits */
    const char *text;
} rli_script;

extern const rli_script rli_script_lock_acquire;
extern const rli_script rli_script_lock_release;
extern const rli_script rli_script_lock_renew;
extern const rli_script rli_script_lock_force;
extern const rli_script rli_script_lock_state;
extern const rli_script rli_script_spin_release;
extern const rli_script rli_script_spin_force;
extern const rli_script rli_script_fenced_acquire;
extern const rli_script rli_script_fair_acquire;
extern const rli_script rli_script_fair_release;
extern const rli_script rli_script_fair_force;
extern const rli_script rli_script_fair_give_up;
extern const rli_script rli_script_read_acquire;
extern const rli_script rli_script_read_release;
extern const rli_script rli_script_read_renew;
extern const rli_script rli_script_read_force;
extern const rli_script rli_script_read_state;
extern const rli_script rli_script_write_acquire;
extern const rli_script rli_script_write_release;
extern const rli_script rli_script_write_renew;
extern const rli_script rli_script_write_force;
extern const rli_script rli_script_write_state;
extern const rli_script rli_script_inspect_look;

#endif
