// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts numbers of bytes: {@code 65536}, {@code 64KiB}, {@code 8m}. */
public final class ByteSize implements ITypeConverter<Long> {

    private static final Pattern SIZE = Pattern.compile("(\\d{1,18})\\s*(?:([KMGT])(?:I?B)?|B)?");

    @Override
    public Long convert(String text) {
        Matcher size = SIZE.matcher(text.strip().toUpperCase(Locale.ROOT));
        if (size.matches()) {
            String unit = size.group(2);
            int shift = unit == null ? 0 : 10 * ("KMGT".indexOf(unit) + 1);
            long number = Long.parseLong(size.group(1));
            if (number > 0 && number <= Long.MAX_VALUE >> shift) {
                return number << shift;
            }
        }
        throw new TypeConversionException("'" + text + "' is not a number of bytes, such as 65536, 64KiB or 8MiB");
    }
}
