// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import io.penstock.TransferPath;
import java.nio.file.Path;

/** A subject for what needs a folder, and no backend. */
class NoBackend implements TckSubject {

    private final Path folder;

    NoBackend(Path folder) {
        this.folder = folder;
    }

    @Override
    public String backend() {
        return "none";
    }

    @Override
    public TransferPath path() {
        return TransferPath.HOST;
    }

    @Override
    public Path folder() {
        return folder;
    }
}
