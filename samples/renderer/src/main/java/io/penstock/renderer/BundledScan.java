// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The scan that comes with the renderer, in a directory or in a jar; its notice lies next to it. */
public final class BundledScan implements AutoCloseable {

    private static final String NAME = "ch2better.nii.gz";

    private @Nullable FileSystem jar;

    /** Returns the path of the scan, which is valid until this is closed. */
    public Path path() throws IOException {
        URL url = BundledScan.class.getResource(NAME);
        if (url == null) {
            throw new IOException("the scan " + NAME + " is missing from this build");
        }
        try {
            URI uri = url.toURI();
            if (uri.getScheme().equals("jar")) {
                jar = FileSystems.newFileSystem(uri, Map.of());
            }
            return Path.of(uri);
        } catch (URISyntaxException e) {
            throw new IOException("the scan " + NAME + " cannot be found at " + url, e);
        }
    }

    @Override
    public void close() throws IOException {
        if (jar != null) {
            jar.close();
        }
    }
}
