// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/** A failed transfer as a value: {@link SubmitOptions.Errors#MATERIALIZE} emits it in place of an error. */
public interface FailedCompletion extends Completion {

    /** Returns why it failed. */
    Throwable error();
}
