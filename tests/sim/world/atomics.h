/* Atomic operations as points: the library is compiled for the simulation with this header before its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIM_ATOMICS_H
#define SIM_ATOMICS_H

#include <stdatomic.h>

void sim_point(void);

/* What <stdatomic.h> has as macros of the compiler's, after a point. */
#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_and_explicit
#undef atomic_fetch_or_explicit
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_weak
#undef atomic_load
#undef atomic_store
#undef atomic_exchange
#undef atomic_fetch_add
#undef atomic_fetch_sub
#undef atomic_fetch_and
#undef atomic_fetch_or

#ifdef __clang__
#define atomic_load_explicit(object, order) (sim_point(), __c11_atomic_load(object, order))
#define atomic_store_explicit(object, value, order) (sim_point(), __c11_atomic_store(object, value, order))
#define atomic_exchange_explicit(object, value, order) (sim_point(), __c11_atomic_exchange(object, value, order))
#define atomic_fetch_add_explicit(object, value, order) (sim_point(), __c11_atomic_fetch_add(object, value, order))
#define atomic_fetch_sub_explicit(object, value, order) (sim_point(), __c11_atomic_fetch_sub(object, value, order))
#define atomic_fetch_and_explicit(object, value, order) (sim_point(), __c11_atomic_fetch_and(object, value, order))
#define atomic_fetch_or_explicit(object, value, order) (sim_point(), __c11_atomic_fetch_or(object, value, order))
#define sim_compare_exchange_(object, expected, value, weak)                                       \
    (sim_point(), (weak) ? __c11_atomic_compare_exchange_weak(object, expected, value, memory_order_seq_cst,   \
                                                              memory_order_seq_cst)                \
                         : __c11_atomic_compare_exchange_strong(object, expected, value, memory_order_seq_cst, \
                                                                memory_order_seq_cst))
#else
#define atomic_load_explicit(object, order)                                                        \
    (sim_point(), __extension__({                                                                  \
         __auto_type sim_at_ = (object);                                                           \
         __typeof__((void)0, *sim_at_) sim_got_;                                                   \
         __atomic_load(sim_at_, &sim_got_, order);                                                 \
         sim_got_;                                                                                 \
     }))
#define atomic_store_explicit(object, value, order)                                                \
    (sim_point(), __extension__({                                                                  \
         __auto_type sim_at_ = (object);                                                           \
         __typeof__((void)0, *sim_at_) sim_new_ = (value);                                         \
         __atomic_store(sim_at_, &sim_new_, order);                                                \
     }))
#define atomic_exchange_explicit(object, value, order)                                             \
    (sim_point(), __extension__({                                                                  \
         __auto_type sim_at_ = (object);                                                           \
         __typeof__((void)0, *sim_at_) sim_new_ = (value), sim_old_;                               \
         __atomic_exchange(sim_at_, &sim_new_, &sim_old_, order);                                  \
         sim_old_;                                                                                 \
     }))
#define atomic_fetch_add_explicit(object, value, order) (sim_point(), __atomic_fetch_add(object, value, order))
#define atomic_fetch_sub_explicit(object, value, order) (sim_point(), __atomic_fetch_sub(object, value, order))
#define atomic_fetch_and_explicit(object, value, order) (sim_point(), __atomic_fetch_and(object, value, order))
#define atomic_fetch_or_explicit(object, value, order) (sim_point(), __atomic_fetch_or(object, value, order))
#define sim_compare_exchange_(object, expected, value, weak)                                       \
    (sim_point(), __extension__({                                                                  \
         __auto_type sim_at_ = (object);                                                           \
         __typeof__((void)0, *sim_at_) sim_new_ = (value);                                         \
         __atomic_compare_exchange(sim_at_, expected, &sim_new_, weak, memory_order_seq_cst,       \
                                   memory_order_seq_cst);                                          \
     }))
#endif
#define atomic_compare_exchange_strong(object, expected, value) sim_compare_exchange_(object, expected, value, 0)
#define atomic_compare_exchange_weak(object, expected, value) sim_compare_exchange_(object, expected, value, 1)

#define atomic_load(object) atomic_load_explicit(object, memory_order_seq_cst)
#define atomic_store(object, value) atomic_store_explicit(object, value, memory_order_seq_cst)
#define atomic_exchange(object, value) atomic_exchange_explicit(object, value, memory_order_seq_cst)
#define atomic_fetch_add(object, value) atomic_fetch_add_explicit(object, value, memory_order_seq_cst)
#define atomic_fetch_sub(object, value) atomic_fetch_sub_explicit(object, value, memory_order_seq_cst)
#define atomic_fetch_and(object, value) atomic_fetch_and_explicit(object, value, memory_order_seq_cst)
#define atomic_fetch_or(object, value) atomic_fetch_or_explicit(object, value, memory_order_seq_cst)

#endif
