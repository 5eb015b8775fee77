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
        if (one->counts[PROXY_SEEN]++ == one->asked.skip)
            one->counts[PROXY_REQUEST_BYTES] = (int)length;
        if (*acting < 0 && acts(one)) {
            one->counts[PROXY_ACTED]++;
            *acting = i;
        }
    }
    return matched;
}

static void note_answer(acting_rule *one, size_t length)
{
    if (one->counts[PROXY_ANSWERED]++ == one->asked.skip)
        one->counts[PROXY_REPLY_BYTES] = (int)length;
}

void rules_answered(rule_set *self, uint64_t matched, int kept_by, size_t length)
{
    for (int i = 0; i < self->count; i++) {
        if (matched >> i & 1)
            note_answer(&self->all[i], length);
    }
    if (kept_by >= 0)
        self->all[kept_by].counts[PROXY_LATE]++;
}

/* One after the other, so that what was counted for a rule can still be asked for long after it. */
int rules_number(rule_set *self)
{
    if (self->count < PROXY_RULES)
        return self->count++;
    for (int i = 0; i < PROXY_RULES; i++) {
        self->reused = (self->reused + 1) % PROXY_RULES;
        if (!self->all[self->reused].up)
            return self->reused;
    }
    return -1;
}
