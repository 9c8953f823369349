// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A time in seconds: {@code 2}, {@code 0.5}, {@code 2s} or {@code 500ms}. */
final class Seconds implements ITypeConverter<Double> {

    @Override
    public Double convert(String text) {
        String number = text.replaceFirst("m?s$", "");
        try {
            return Double.parseDouble(number) / (text.endsWith("ms") ? 1000 : 1);
        } catch (NumberFormatException e) {
            throw new TypeConversionException("'" + text + "' is not a time, such as 2, 2s or 500ms");
        }
    }
}
