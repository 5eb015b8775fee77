// What can be done to one kind of object: operations by name.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.agent;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The operations of objects of class {@code T}; each answers something whose text is the answer. */
final class Operations<T> {
    static final TimeUnit MS = TimeUnit.MILLISECONDS;

    /** One operation; null is the answer "". */
    interface Operation<T> {
        Object run(T object, String[] arguments) throws Exception;
    }

    /** One that answers nothing. */
    interface Action<T> {
        void run(T object, String[] arguments) throws Exception;
    }

    private final Map<String, Operation<? super T>> all = new HashMap<>();

    Operations<T> ask(String name, Operation<? super T> operation) {
        all.put(name, operation);
        return this;
    }

    Operations<T> act(String name, Action<? super T> action) {
        return ask(name, (object, arguments) -> {
            action.run(object, arguments);
            return null;
        });
    }

    /** Those of a class or interface that T extends. */
    Operations<T> with(Operations<? super T> others) {
        others.all.forEach((name, operation) -> all.put(name, widen(operation)));
        return this;
    }

    @SuppressWarnings("unchecked") // what runs on any S runs on a T that is an S
    private static <T> Operation<T> widen(Operation<?> operation) {
        return (Operation<T>) operation;
    }

    Object run(String name, T object, String[] arguments) throws Exception {
        Operation<? super T> operation = all.get(name);
        if (operation == null) {
            throw new IllegalArgumentException("no such operation of this kind: " + name);
        }
        return operation.run(object, arguments);
    }

    // --- Arguments and answers ---

    static long ms(String text) {
        return Long.parseLong(text);
    }

    static int count(String text) {
        return Integer.parseInt(text);
    }

    /** Several words in one argument, between commas or blanks. */
    static List<String> list(String text) {
        return List.of(text.split("[, ]+"));
    }

    /** Several words in one answer, between commas; null for null. */
    static String text(List<String> words) {
        return words == null ? null : String.join(",", words);
    }
}
