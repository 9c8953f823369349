// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.util.HashMap;
import java.util.Map;

/** Error numbers of Linux on x86-64, AArch64 and RISC-V, and their names. */
public final class Errno {
    public static final int EPERM = 1;
    public static final int ENOENT = 2;
    public static final int EINTR = 4;
    public static final int EIO = 5;
    public static final int EBADF = 9;
    public static final int EAGAIN = 11;
    public static final int ENOMEM = 12;
    public static final int EACCES = 13;
    public static final int EFAULT = 14;
    public static final int EBUSY = 16;
    public static final int EEXIST = 17;
    public static final int EISDIR = 21;
    public static final int EINVAL = 22;
    public static final int ENFILE = 23;
    public static final int EMFILE = 24;
    public static final int ENOSPC = 28;
    public static final int ENOSYS = 38;
    public static final int ETIME = 62;
    public static final int ENOBUFS = 105;
    public static final int EALREADY = 114;
    public static final int ECANCELED = 125;
    public static final int EOPNOTSUPP = 95;

    /**
     * Names by number, from 0 on; a dash where there is none. A table, since the C library only translates to message
     * text.
     */
    private static final String[] SYMBOLS = """
            - EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN ENOMEM EACCES EFAULT ENOTBLK
            EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE
            EROFS EMLINK EPIPE EDOM ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS ENOTEMPTY ELOOP - ENOMSG EIDRM
            ECHRNG EL2NSYNC EL3HLT EL3RST ELNRNG EUNATCH ENOCSI EL2HLT EBADE EBADR EXFULL ENOANO EBADRQC EBADSLT
            - EBFONT ENOSTR ENODATA ETIME ENOSR ENONET ENOPKG EREMOTE ENOLINK EADV ESRMNT ECOMM EPROTO EMULTIHOP
            EDOTDOT EBADMSG EOVERFLOW ENOTUNIQ EBADFD EREMCHG ELIBACC ELIBBAD ELIBSCN ELIBMAX ELIBEXEC EILSEQ
            ERESTART ESTRPIPE EUSERS ENOTSOCK EDESTADDRREQ EMSGSIZE EPROTOTYPE ENOPROTOOPT EPROTONOSUPPORT
            ESOCKTNOSUPPORT EOPNOTSUPP EPFNOSUPPORT EAFNOSUPPORT EADDRINUSE EADDRNOTAVAIL ENETDOWN ENETUNREACH
            ENETRESET ECONNABORTED ECONNRESET ENOBUFS EISCONN ENOTCONN ESHUTDOWN ETOOMANYREFS ETIMEDOUT
            ECONNREFUSED EHOSTDOWN EHOSTUNREACH EALREADY EINPROGRESS ESTALE EUCLEAN ENOTNAM ENAVAIL EISNAM
            EREMOTEIO EDQUOT ENOMEDIUM EMEDIUMTYPE ECANCELED ENOKEY EKEYEXPIRED EKEYREVOKED EKEYREJECTED
            EOWNERDEAD ENOTRECOVERABLE ERFKILL EHWPOISON
            """.split("\\s+");

    private Errno() {}

    /**
     * Returns the number of a message of the C library, in the language of this process: the exceptions of the JDK keep
     * only the message. 0 if it is the message of no number, or the C library cannot be called here.
     */
    public static int number(String message) {
        return Machine.isSupported() && NativeMemory.isAvailable() ? Messages.NUMBERS.getOrDefault(message, 0) : 0;
    }

    /** The messages of the C library, queried once: the JDK sets the locale at its start, and never again. */
    private static final class Messages {

        static final Map<String, Integer> NUMBERS = numbers();

        private static Map<String, Integer> numbers() {
            Native.register(Messages.class, NativeLibrary.getProcess());
            String encoding = System.getProperty("sun.jnu.encoding", "UTF-8"); // the encoding of the JDK's exceptions
            Map<String, Integer> numbers = new HashMap<>();
            for (int errno = 1; errno < SYMBOLS.length; errno++) {
                if (!SYMBOLS[errno].equals("-")) {
                    numbers.put(strerror(errno).getString(0, encoding), errno);
                }
            }
            return numbers;
        }

        static native Pointer strerror(int errno);
    }

    /** Returns the name of a positive error number, {@code EIO} for 5; an empty string if it has none. */
    public static String symbol(int errno) {
        return errno > 0 && errno < SYMBOLS.length && !SYMBOLS[errno].equals("-") ? SYMBOLS[errno] : "";
    }

    /** Returns the name and the number, {@code EIO (5)}; only the number if it has no name. */
    public static String describe(int errno) {
        String symbol = symbol(errno);
        return symbol.isEmpty() ? Integer.toString(errno) : symbol + " (" + errno + ")";
    }
}
