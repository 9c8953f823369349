// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip.ffi;

/** The hipFile that a process has loaded, in tests that tell the double otherwise. */
public final class LoadedHipFile {

    private LoadedHipFile() {}

    /** Makes it as if the environment had said so when it was loaded. */
    public static void allowsCompat(boolean allowed) {
        HipFile.allowsCompat(allowed);
    }
}
