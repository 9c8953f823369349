// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.file;

import io.penstock.backend.gpu.api.DriverProperties;
import io.penstock.backend.gpu.api.FileRefusal;
import java.util.List;

/** A vendor's settings of its file API's driver, for the whole process; compared, and shown in messages. */
public interface FileSettings {

    /** Applies the settings that must precede opening the driver. */
    void beforeOpening() throws FileRefusal;

    /** Applies the settings of an open driver. */
    void afterOpening() throws FileRefusal;

    /** Returns the options that the driver accepted but did not apply. */
    List<String> ignored(DriverProperties driver);

    /** Returns true if the driver's own counters prove that nothing has gone through host memory. */
    boolean provesDirect();
}
