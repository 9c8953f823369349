// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx.ffi;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/** The codes of {@code ucs_status_t}, and their names. */
public final class UcsStatus {

    public static final int OK = 0;
    public static final int INPROGRESS = 1;
    public static final int BUSY = -15;
    public static final int CANCELED = -16;
    public static final int UNSUPPORTED = -22;
    public static final int LAST = -100;

    /** Names without {@code UCS_ERR_}. */
    private static final Map<Integer, String> SYMBOLS = Arrays.stream(
                    """
            -1=NO_MESSAGE -2=NO_RESOURCE -3=IO_ERROR -4=NO_MEMORY -5=INVALID_PARAM -6=UNREACHABLE -7=INVALID_ADDR
            -8=NOT_IMPLEMENTED -9=MESSAGE_TRUNCATED -10=NO_PROGRESS -11=BUFFER_TOO_SMALL -12=NO_ELEM
            -13=SOME_CONNECTS_FAILED -14=NO_DEVICE -15=BUSY -16=CANCELED -17=SHMEM_SEGMENT -18=ALREADY_EXISTS
            -19=OUT_OF_RANGE -20=TIMED_OUT -21=EXCEEDS_LIMIT -22=UNSUPPORTED -23=REJECTED -24=NOT_CONNECTED
            -25=CONNECTION_RESET -80=ENDPOINT_TIMEOUT""".strip().split("\\s+"))
            .map(pair -> pair.split("="))
            .collect(Collectors.toUnmodifiableMap(pair -> Integer.valueOf(pair[0]), pair -> "UCS_ERR_" + pair[1]));

    private UcsStatus() {}

    /** Returns the name of an error; empty for a number without one. */
    public static String symbol(int status) {
        return SYMBOLS.getOrDefault(status, "");
    }
}
