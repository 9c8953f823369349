// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

/** Text in JSON. */
final class JsonText {

    private JsonText() {}

    /** Returns a text as a JSON string, with its quotation marks. */
    static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }
}
