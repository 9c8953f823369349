// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import io.penstock.Backends;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.cli.BackendChoice;
import java.util.List;

/**
 * The backend that reads the voxels, and the path that it takes.
 *
 * @param backend its name
 * @param path a value of the backend's option {@code penstock.NAME.path}; empty for the configured or default one
 */
record VoxelSource(String backend, String path) {

    /** Returns the paths that can be chosen for a backend; empty if it has only one. */
    static List<String> paths(String backend) {
        String name = BackendChoice.pathOption(backend);
        return Backends.options().stream()
                .filter(option -> option.name().equals(name))
                .map(Option::range)
                .flatMap(range -> List.of(range.split(", ")).stream())
                .toList();
    }

    /**
     * Returns the options by which the backend takes the path.
     *
     * @throws IllegalArgumentException if there is a path, and the backend has none to choose
     */
    Options options() {
        if (path.isEmpty()) {
            return Options.none();
        }
        if (paths(backend).isEmpty()) {
            throw new IllegalArgumentException("backend " + backend + " has no paths to choose: path must be empty");
        }
        return Options.none().with(BackendChoice.pathOption(backend), path);
    }
}
