// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

/** Past the page cache. */
public class DirectDirectoryTest extends DirectoryTestCase {

    public DirectDirectoryTest() {
        super(false);
    }
}
