/* The proxy's rules: which requests and messages each one is about. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fault/support/proxy_parts.h"

static bool is_about(const acting_rule *self, bool message, const char *data, size_t length)
{
    return self->up && self->asked.messages == message && (!*self->text || bytes_have(data, length, self->text)) &&
           (!*self->and_text || bytes_have(data, length, self->and_text));
}

static bool acts(const acting_rule *self)
{
    return self->asked.act != PROXY_NOTE && self->counts[PROXY_SEEN] > self->asked.skip &&
           (self->asked.times == 0 || self->counts[PROXY_ACTED] < self->asked.times);
}

uint64_t rules_judge(rule_set *self, bool message, const char *data, size_t length, int *acting)
{
    uint64_t matched = 0;
    *acting = -1;
    for (int i = 0; i < self->count; i++) {
        acting_rule *one = &self->all[i];
        if (!is_about(one, message, data, length))
            continue;
        matched |= UINT64_C(1) << i;
        one->counts[PROXY_SEEN]++;
        if (*acting < 0 && acts(one)) {
            one->counts[PROXY_ACTED]++;
            *acting = i;
        }
    }
    return matched;
}

void rules_answered(rule_set *self, uint64_t matched, int kept_by)
{
    for (int i = 0; i < self->count; i++)
        self->all[i].counts[PROXY_ANSWERED] += (int)(matched >> i & 1);
    if (kept_by >= 0)
        self->all[kept_by].counts[PROXY_LATE]++;
}
