// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

/** Through the page cache. */
public class BufferedDirectoryTest extends DirectoryTestCase {

    public BufferedDirectoryTest() {
        super(true);
    }
}
