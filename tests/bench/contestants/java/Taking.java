// What one thread takes and gives back.
// SPDX-License-Identifier: Apache-2.0
package org.rlock.bench;

interface Taking {
    void take() throws Exception;

    void give() throws Exception;

    /** Nobody takes it any more: another kind may have its name next. */
    default void end() {
    }

    /** The kind "none": turns without a lock, which the check for violations has to catch. */
    Taking NONE = new Taking() {
        @Override
        public void take() {
        }

        @Override
        public void give() {
        }
    };
}
