// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Creates the gates of all subjects that do not override {@link TckSubject#gate}; loaded with
 * {@link java.util.ServiceLoader}.
 */
public interface GateProvider {

    /** Creates a gate whose file is in {@code folder}, which is removed after the test. */
    Gate in(Path folder) throws IOException;
}
