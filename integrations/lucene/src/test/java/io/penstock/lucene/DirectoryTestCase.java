// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakScope;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSLockFactory;
import org.apache.lucene.tests.store.BaseDirectoryTestCase;
import org.junit.AfterClass;
import org.junit.BeforeClass;

/** What Lucene expects of every directory; all files are served. */
@ThreadLeakScope(ThreadLeakScope.Scope.NONE) // the threads of the backend are the JVM's
public abstract class DirectoryTestCase extends BaseDirectoryTestCase {

    private static Backend backend;

    private final boolean pageCache;

    protected DirectoryTestCase(boolean pageCache) {
        this.pageCache = pageCache;
    }

    @BeforeClass
    public static void openBackend() {
        backend = Backends.open("host");
    }

    @AfterClass
    public static void closeBackend() {
        Left.awaitNothing(backend);
        backend.close();
    }

    @Override
    protected Directory getDirectory(Path path) throws IOException {
        Options all = Options.none()
                .with(LuceneOptions.MERGED, "*")
                .with(LuceneOptions.ANNOUNCED, "*")
                .with(LuceneOptions.PAGE_CACHE, pageCache)
                .with(LuceneOptions.WINDOW_BYTES, 64L << 10)
                .with(LuceneOptions.FALLBACK, LuceneOptions.Fallback.THREADS);
        return PenstockDirectory.open(path, backend, all, FSLockFactory.getDefault());
    }
}
