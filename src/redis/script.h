/* Scripts: the Lua files under lua/, embedded at build. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RLI_SCRIPT_H
#define RLI_SCRIPT_H

#include <stddef.h>

/* How messages reach those who wait, and so which form of a script is the right one. */
typedef enum rli_pubsub_mode {
    RLI_COUNTED,   /* PUBLISH, whose count of receivers is complete */
    RLI_SCATTERED, /* PUBLISH; others may have been heard by other servers' subscribers */
    RLI_SHARDED,   /* SPUBLISH */
    RLI_PUBSUB_MODES
} rli_pubsub_mode;

typedef struct rli_script {
    char sha1[RLI_PUBSUB_MODES][41]; /* what EVALSHA wants, 40 hex digits */
    const char *packed;              /* the text; a byte above 127 stands for a part of it */
} rli_script;

/* The text that EVAL wants, terminated; *length without that. The caller frees it. NULL: out of memory. */
char *rli_script_text(const rli_script *script, rli_pubsub_mode pubsub_mode, size_t *length);

/* The parts, in the order of the bytes that stand for them: where the forms differ, then what scripts share. */
enum { RLI_SCRIPT_FORMS = 3 };
extern const char *const rli_script_forms[RLI_SCRIPT_FORMS][RLI_PUBSUB_MODES];
extern const char *const rli_script_includes[];

extern const rli_script *const rli_scripts[]; /* all of them, ended by NULL */

extern const rli_script rli_script_lock_acquire;
extern const rli_script rli_script_lock_release;
extern const rli_script rli_script_lock_handoff;
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
extern const rli_script rli_script_permit_semaphore_acquire;
extern const rli_script rli_script_permit_semaphore_replace;
extern const rli_script rli_script_permit_semaphore_undo;
extern const rli_script rli_script_permit_semaphore_release;
extern const rli_script rli_script_permit_semaphore_release_many;
extern const rli_script rli_script_permit_semaphore_update_lease;
extern const rli_script rli_script_permit_semaphore_lease;
extern const rli_script rli_script_permit_semaphore_state;
extern const rli_script rli_script_permit_semaphore_try_set;
extern const rli_script rli_script_permit_semaphore_set;
extern const rli_script rli_script_permit_semaphore_add;
extern const rli_script rli_script_permit_semaphore_delete;

#endif
