// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The text of an element of XML, without a parser: S3's documents have no other contents. */
final class XmlText {

    private static final Pattern REFERENCE = Pattern.compile("&(?:#(\\d{1,6})|#x(\\p{XDigit}{1,5})|(\\w+));");
    private static final Map<String, String> NAMED =
            Map.of("amp", "&", "lt", "<", "gt", ">", "quot", "\"", "apos", "'");

    private XmlText() {}

    /** Returns what the contents of an element stand for; references that XML does not have stand for themselves. */
    static String read(String contents) {
        return REFERENCE.matcher(contents).replaceAll(found -> Matcher.quoteReplacement(meaning(found)));
    }

    private static String meaning(MatchResult reference) {
        if (reference.group(3) != null) {
            return NAMED.getOrDefault(reference.group(3), reference.group());
        }
        int point = reference.group(1) != null
                ? Integer.parseInt(reference.group(1))
                : Integer.parseInt(reference.group(2), 16);
        return Character.getType(point) == Character.SURROGATE ? reference.group() : Character.toString(point);
    }

    /** Returns a text as the contents of an element. */
    static String written(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
