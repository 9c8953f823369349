// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

/** Where the bytes of an array, or of a part of it, lie in files. */
public sealed interface ArraySource permits Extent, FileBlocks, ChunkWindow {

    /** Returns the bytes of the elements, decoded. */
    long bytes();

    /** Returns the first bytes that are stored; they are in no file if none are. */
    Extent first();
}
