/* A fault proxy before each server of a fleet, a cluster, or a set of sentinels. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/fronts.h"

#include "tests/support/test.h"

static struct front {
    const server *behind;
    proxy *proxy;
} fronts[FRONTS];
static int count;

static int put_before(const server *behind)
{
    cr_assert(count < FRONTS, "more than %d servers behind proxies", FRONTS);
    fronts[count] = (struct front){behind, proxy_start_port(behind)};
    return proxy_port(fronts[count++].proxy);
}

void fronts_begin(void)
{
    server_front = put_before;
}

void fronts_end(void)
{
    server_front = NULL;
    while (count > 0)
        proxy_stop(fronts[--count].proxy);
}

proxy *front_of(const server *behind)
{
    for (int i = 0; i < count; i++) {
        if (fronts[i].behind == behind)
            return fronts[i].proxy;
    }
    cr_assert_fail("no proxy is before the server at port %d", server_port(behind));
    return NULL;
}

fronts_rule fronts_add(const proxy_rule *rule)
{
    fronts_rule added = {{0}};
    for (int i = 0; i < count; i++)
        added.rules[i] = proxy_add(fronts[i].proxy, rule);
    return added;
}

void fronts_release(const fronts_rule *rule)
{
    for (int i = 0; i < count; i++)
        proxy_release(fronts[i].proxy, rule->rules[i]);
}

int fronts_count(const fronts_rule *rule, proxy_count_of what)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += proxy_count(fronts[i].proxy, rule->rules[i], what);
    return sum;
}
