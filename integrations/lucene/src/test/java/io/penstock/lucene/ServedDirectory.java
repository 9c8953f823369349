// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.store.FSLockFactory;
import org.apache.lucene.store.FilterDirectory;
import org.apache.lucene.tests.util.LuceneTestCase;

/** What Lucene's own tests take for a directory: see {@code tests.directory} in the pom. All vectors are served. */
public final class ServedDirectory extends FilterDirectory {

    private static final AtomicInteger OPENED = new AtomicInteger();

    private final Backend backend;

    /** Of Lucene's tests. */
    public ServedDirectory() throws IOException {
        this(Backends.open("host"), LuceneTestCase.createTempDir());
    }

    private ServedDirectory(Backend backend, Path path) throws IOException {
        super(PenstockDirectory.open(
                Files.createDirectories(path),
                backend,
                Options.none()
                        .with(LuceneOptions.ANNOUNCED, "*.vec")
                        .with(LuceneOptions.WINDOW_BYTES, 64L << 10)
                        .with(LuceneOptions.FALLBACK, LuceneOptions.Fallback.THREADS),
                FSLockFactory.getDefault()));
        this.backend = backend;
        OPENED.incrementAndGet();
    }

    /** Returns how many were opened in this JVM. */
    static int opened() {
        return OPENED.get();
    }

    @Override
    public void close() throws IOException {
        super.close();
        backend.close();
    }
}
