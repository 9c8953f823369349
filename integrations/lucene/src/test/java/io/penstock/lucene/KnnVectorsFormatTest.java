// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakScope;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.lucene104.Lucene104HnswScalarQuantizedVectorsFormat;
import org.apache.lucene.tests.index.BaseKnnVectorsFormatTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.junit.AfterClass;
import org.junit.Assert;
import org.junit.jupiter.api.Tag;

/** What Lucene expects of a format of vectors, over {@link ServedDirectory}. */
@Tag("slow")
@ThreadLeakScope(ThreadLeakScope.Scope.NONE) // the threads of the backend are the JVM's
public class KnnVectorsFormatTest extends BaseKnnVectorsFormatTestCase {

    @AfterClass
    public static void wereServed() {
        Assert.assertTrue("directories", ServedDirectory.opened() > 0);
    }

    @Override
    protected Codec getCodec() {
        return TestUtil.alwaysKnnVectorsFormat(new Lucene104HnswScalarQuantizedVectorsFormat());
    }

    @Override
    protected boolean supportsFloatVectorFallback() {
        return false;
    }
}
