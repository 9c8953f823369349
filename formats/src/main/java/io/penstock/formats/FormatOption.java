// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

/** What a reader permits though the format forbids it. By default nothing; {@code penstock --lenient} permits all. */
public enum FormatOption {
    /**
     * Bytes behind the last array of safetensors, the end of a stream of Arrow, or the voxels of NIfTI: their number is
     * the attribute {@code trailing bytes}.
     */
    TRAILING_BYTES,
    /** NUL in place of blanks behind the JSON of a safetensors header. */
    NUL_PADDING
}
