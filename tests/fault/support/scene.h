/* The scene of a fault: the stage's server, the proxy before it, and the client under test behind that. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAULT_SCENE_H
#define FAULT_SCENE_H

#include "redis/script.h"
#include "tests/fault/support/proxy.h"
#include "tests/integration/support/stage.h"

struct scene {
    proxy *proxy;
    rlock_client *client; /* through the proxy; stage.other is another one, past it */
};
extern struct scene scene;

/* So that faults show soon in virtual time, and yet no call of a real machine, whose processes may be stopped for some
 * seconds, fails where there is no fault. */
#ifdef TEST_VIRTUAL
#define ATTEMPT_MS 400
#define WATCHDOG_MS 3000
#else
#define ATTEMPT_MS 2500
#define WATCHDOG_MS 10000
#endif

#define SCENE_TEXT2_(number) #number
#define SCENE_TEXT_(number) SCENE_TEXT2_(number)

/* There are three attempts, with pauses of up to 50 and 100 ms between them. A call's patience is
 * their sum. */
#define QUICK                                                                                      \
    "timeout=" SCENE_TEXT_(ATTEMPT_MS) "&connectTimeout=500&retryAttempts=2&retryBaseDelay=50&retryMaxDelay=100"
#define QUICK_WATCHDOG QUICK "&lockWatchdogTimeout=" SCENE_TEXT_(WATCHDOG_MS)
#define PATIENCE_MS (3 * ATTEMPT_MS + 50 + 100)

/* For .init and .fini of a test. The server knows all scripts, so that each request is sent once. */
void scene_open(void);       /* QUICK, watchdog timeout 30000 ms */
void scene_watchdog(void);   /* QUICK_WATCHDOG */
void scene_close(void);
void scene_open_with(const char *query);

/* One more client through the proxy, closed by scene_close. */
rlock_client *scene_client(const char *query);
/* Closes one of them now. */
void scene_close_client(rlock_client *client);
void scene_load_scripts(void);

/* A rule for the first request (`times` 1) or all (0) that runs the script; for a text. */
int on_script(const rli_script *script, proxy_act act, int times);
int on_text(const char *text, proxy_act act, int times);
/* Releases what the rule keeps and waits until the server has run one of those requests. */
void let_through(int rule);
/* How many requests for the script there were since this number was taken from on_script. */
int seen_by(int rule);

/* Waits until `message` was published `times` times on NAME's channel since server_listen. */
bool heard_times(const char *name, const char *message, int times, int64_t ms);

#endif
