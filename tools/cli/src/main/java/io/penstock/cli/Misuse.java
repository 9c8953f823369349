// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Formats wrong arguments as messages for the user. */
final class Misuse {

    private Misuse() {}

    /** Returns the message for a wrong argument. */
    static String of(ParameterException e) {
        if (isUnreadableName(e)) {
            return Complaint.UNREADABLE_NAME;
        }
        if (e instanceof UnmatchedArgumentException unmatched) {
            return unmatched(unmatched);
        }
        List<String> unmatched = e.getCommandLine().getUnmatchedArguments();
        if (e instanceof MissingParameterException && !unmatched.isEmpty()) { // picocli checks what is missing first
            return unmatched(new UnmatchedArgumentException(e.getCommandLine(), unmatched));
        }
        return String.valueOf(e.getMessage())
                .replaceFirst("(?s)^Unknown subcommand ('.*')\\.$", "there is no command $1")
                .replaceFirst("^Value for option option ", "Value for option ")
                .replaceFirst(" is not a double$", " is not a number")
                .replaceFirst(" is not (a long|an int)$", " is not a whole number");
    }

    private static String unmatched(UnmatchedArgumentException e) {
        List<String> unmatched = e.getUnmatched();
        CommandLine command = e.getCommandLine();
        if (e.isUnknownOption()) {
            return "unknown option " + unmatched.get(0) + nearest(e);
        }
        if (command.getParent() == null) {
            return "there is no command '" + unmatched.get(0) + "'" + nearest(e);
        }
        String many = unmatched.size() == 1 ? "one argument" : unmatched.size() + " arguments";
        return many + " too many: " + String.join(" ", unmatched);
    }

    /** Returns the first suggestion with the same first letter: picocli suggests copy for nope. */
    private static String nearest(UnmatchedArgumentException e) {
        String start = e.getUnmatched().get(0).replaceFirst("(?s)(?<=[^-]).*", "");
        return e.getSuggestions().stream()
                .filter(name -> name.startsWith(start))
                .findFirst()
                .map(name -> "; was " + name + " meant?")
                .orElse("");
    }

    private static boolean isUnreadableName(ParameterException e) {
        boolean name = e.getArgSpec() != null
                && List.of(e.getArgSpec().auxiliaryTypes()).contains(Path.class);
        return name && e.getValue() != null && Complaint.isUnreadable(e.getValue());
    }
}
