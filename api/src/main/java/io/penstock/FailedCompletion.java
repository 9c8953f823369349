// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/** A transfer that failed, as a value: what {@link SubmitOptions.Errors#MATERIALIZE} emits in place of an error. */
public interface FailedCompletion extends Completion {

    /** Returns why it failed. */
    Throwable error();
}
