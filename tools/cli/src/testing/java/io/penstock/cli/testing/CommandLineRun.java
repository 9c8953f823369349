// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.testing;

import io.penstock.cli.Penstock;
import java.io.PrintWriter;
import java.io.StringWriter;

/** One run of the {@code penstock} command: its output, and how it ended. */
public record CommandLineRun(int code, String out, String err) {

    public static CommandLineRun of(Object... arguments) {
        String[] texts = new String[arguments.length];
        for (int i = 0; i < texts.length; i++) {
            texts[i] = arguments[i].toString();
        }
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = Penstock.run(new PrintWriter(out, true), new PrintWriter(err, true), texts);
        return new CommandLineRun(code, plain(out), plain(err));
    }

    /** Without colours, which picocli adds on Windows if {@code TERM} is set, even to a file. */
    private static String plain(StringWriter text) {
        return text.toString().replaceAll("\u001b\\[[0-9;]*m", "");
    }

    /** Returns the lines on standard error. */
    public String[] complaints() {
        return err.lines().toArray(String[]::new);
    }
}
