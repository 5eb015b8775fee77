/* Scripts: the Lua files under lua/, embedded at build time. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SCRIPT_H
#define RLI_SCRIPT_H

#include <stddef.h>

/* How messages reach waiters in this topology. Each script that publishes has one form per mode. */
typedef enum rli_pubsub_mode {
    RLI_COUNTED,   /* PUBLISH; the count of receivers that it returns is complete */
    RLI_SCATTERED, /* PUBLISH; other servers may have subscribers, too, so the count is not complete */
    RLI_SHARDED,   /* SPUBLISH */
    RLI_PUBSUB_MODES
} rli_pubsub_mode;

typedef struct rli_script {
    char sha1[RLI_PUBSUB_MODES][41]; /* for EVALSHA: 40 hex digits and a 0, one per mode */
    const char *packed;              /* the text; each byte above 127 stands for one of the parts below */
} rli_script;

/* The script's text for EVAL, 0-terminated; *length does not count the 0. The caller frees it. NULL: out of memory. */
char *rli_script_text(const rli_script *script, rli_pubsub_mode pubsub_mode, size_t *length);

/* The parts for which bytes above 127 stand, in the order of these bytes: first those that differ by mode, then those
 * that scripts share. */
enum { RLI_SCRIPT_FORMS = 3 };
extern const char *const rli_script_forms[RLI_SCRIPT_FORMS][RLI_PUBSUB_MODES];
extern const char *const rli_script_includes[];

extern const rli_script *const rli_scripts[]; /* all scripts, then NULL */

extern const rli_script rli_script_lock_acquire;
extern const rli_script rli_script_lock_release;
extern const rli_script rli_script_lock_handoff;
extern const rli_script rli_script_lock_renew;
extern const rli_script rli_script_lock_look;
extern const rli_script rli_script_lock_force;
extern const rli_script rli_script_lock_state;
extern const rli_script rli_script_spin_release;
extern const rli_script rli_script_spin_handoff;
extern const rli_script rli_script_spin_force;
extern const rli_script rli_script_fenced_acquire;
extern const rli_script rli_script_fenced_raise;
extern const rli_script rli_script_fenced_set;
extern const rli_script rli_script_token_acquire;
extern const rli_script rli_script_token_release;
extern const rli_script rli_script_token_renew;
extern const rli_script rli_script_token_look;
extern const rli_script rli_script_token_force;
extern const rli_script rli_script_token_state;
extern const rli_script rli_script_signal_release;
extern const rli_script rli_script_signal_force;
extern const rli_script rli_script_signal_pass_on;
extern const rli_script rli_script_fair_acquire;
extern const rli_script rli_script_fair_release;
extern const rli_script rli_script_fair_force;
extern const rli_script rli_script_fair_give_up;
extern const rli_script rli_script_read_acquire;
extern const rli_script rli_script_read_release;
extern const rli_script rli_script_read_renew;
extern const rli_script rli_script_read_look;
extern const rli_script rli_script_read_force;
extern const rli_script rli_script_read_state;
extern const rli_script rli_script_write_acquire;
extern const rli_script rli_script_write_release;
extern const rli_script rli_script_write_renew;
extern const rli_script rli_script_write_look;
extern const rli_script rli_script_write_force;
extern const rli_script rli_script_write_state;
extern const rli_script rli_script_group_acquire;
extern const rli_script rli_script_group_release;
extern const rli_script rli_script_group_renew;
extern const rli_script rli_script_group_force;
extern const rli_script rli_script_group_state;
extern const rli_script rli_script_inspect_look;
extern const rli_script rli_script_semaphore_acquire;
extern const rli_script rli_script_semaphore_release;
extern const rli_script rli_script_semaphore_set;
extern const rli_script rli_script_semaphore_add;
extern const rli_script rli_script_semaphore_drain;
extern const rli_script rli_script_semaphore_available;
extern const rli_script rli_script_semaphore_delete;
extern const rli_script rli_script_count_down_latch_set;
extern const rli_script rli_script_count_down_latch_count_down;
extern const rli_script rli_script_count_down_latch_state;
extern const rli_script rli_script_count_down_latch_delete;
extern const rli_script rli_script_object_expire;
extern const rli_script rli_script_object_clear_expire;
extern const rli_script rli_script_object_state;
extern const rli_script rli_script_object_rename;
extern const rli_script rli_script_permit_semaphore_acquire;
extern const rli_script rli_script_permit_semaphore_replace;
extern const rli_script rli_script_permit_semaphore_undo;
extern const rli_script rli_script_permit_semaphore_release;
extern const rli_script rli_script_permit_semaphore_release_many;
extern const rli_script rli_script_permit_semaphore_update_lease;
extern const rli_script rli_script_permit_semaphore_renew;
extern const rli_script rli_script_permit_semaphore_lease;
extern const rli_script rli_script_permit_semaphore_state;
extern const rli_script rli_script_permit_semaphore_try_set;
extern const rli_script rli_script_permit_semaphore_set;
extern const rli_script rli_script_permit_semaphore_add;
extern const rli_script rli_script_permit_semaphore_delete;

#endif
