/* Keys: thread-specific data, whose destructors run before the thread's turn ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_KEYS_H
#define SIM_KEYS_H

/* As the system does at the end of a thread: again while a destructor sets a value, four times at most. */
void keys_end_values(void **values);

#endif
