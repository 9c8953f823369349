// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.fakes;

import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/** Names the layer to the OpenCL loader, which asks only once: before a test has made the first call. */
public final class LayerSession implements LauncherSessionListener {

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        SsgFake.install();
    }
}
