// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.io.Serializable;

/**
 * The error of a native call (rule 401).
 *
 * @param call the function, in its vendor's spelling
 * @param code the error number, as the vendor counts
 * @param symbol the vendor's name of that number, or an empty string if it has none
 */
public record NativeError(String call, long code, String symbol) implements Serializable {

    /**
     * Returns {@code call -> SYMBOL (code)}, without the code if it is 0; numbers beyond an int, such as HRESULTs, in
     * hexadecimal.
     */
    @Override
    public String toString() {
        if (code == 0 && !symbol.isEmpty()) {
            return call + " -> " + symbol;
        }
        String number = code > Integer.MAX_VALUE ? "0x" + Long.toHexString(code) : Long.toString(code);
        return symbol.isEmpty() ? call + " -> " + number : call + " -> " + symbol + " (" + number + ")";
    }
}
