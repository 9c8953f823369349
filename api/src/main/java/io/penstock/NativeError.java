// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.io.Serializable;

/**
 * What a native call answered (rule 401).
 *
 * @param call the function, in its vendor's spelling
 * @param code the number that it answered, as the vendor counts
 * @param symbol the vendor's name of that number, or an empty string where it has none
 */
public record NativeError(String call, long code, String symbol) implements Serializable {

    /** Returns {@code call -> SYMBOL (code)}; what is beyond an int, as HRESULTs are, in hexadecimal. */
    @Override
    public String toString() {
        String number = code > Integer.MAX_VALUE ? "0x" + Long.toHexString(code) : Long.toString(code);
        return symbol.isEmpty() ? call + " -> " + number : call + " -> " + symbol + " (" + number + ")";
    }
}
