// SPDX-License-Identifier: Apache-2.0
package io.penstock.readme;

import java.nio.file.Path;

/** What a block of README.md is compiled into. */
public interface Sample {
    void run(Path path, Renderer renderer) throws Exception;
}
