// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

/** What a reader permits though the format forbids it. By default nothing; {@code penstock --lenient} permits all. */
public enum FormatOption {
    /** Bytes behind the data of safetensors, NIfTI and streams of Arrow: the attribute {@code trailing bytes} counts. */
    TRAILING_BYTES,
    /** NUL in place of blanks behind the JSON of a safetensors header. */
    NUL_PADDING,
    /**
     * Arrays that are damaged, or that an index names and no file has: a load of everything leaves them out, as it does
     * what is not supported.
     */
    DAMAGED_ARRAYS
}
