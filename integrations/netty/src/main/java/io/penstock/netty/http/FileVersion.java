// SPDX-License-Identifier: Apache-2.0
package io.penstock.netty.http;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The validators of a version of a file (RFC 9110, 8.8), and what requests demand of it.
 *
 * @param entityTag strong and quoted
 * @param lastModified in whole seconds, as {@code Last-Modified} has them
 */
public record FileVersion(String entityTag, Instant lastModified) {

    private static final int TAG_BYTES = 16;
    private static final Pattern TAG = Pattern.compile("\\G[\\s,]*((?:W/)?\"[^\"]*\")");

    /**
     * Returns a version.
     *
     * @param identity another one after every change that the file system reports; the tag does not tell it
     */
    public static FileVersion of(String identity, Instant modified) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(identity.getBytes(StandardCharsets.UTF_8));
            String tag = '"' + HexFormat.of().formatHex(digest, 0, TAG_BYTES) + '"';
            return new FileVersion(tag, modified.truncatedTo(ChronoUnit.SECONDS));
        } catch (NoSuchAlgorithmException e) { // which every JDK has
            throw new IllegalStateException(e);
        }
    }

    /**
     * Returns whether the values of {@code If-Match} or {@code If-None-Match} (13.1.1, 13.1.2) list this version.
     *
     * @param weakly whether a weak tag of the same text is this version
     */
    public boolean isListed(List<String> values, boolean weakly) {
        String list = String.join(",", values);
        if (list.strip().equals("*")) {
            return true;
        }
        Matcher tag = TAG.matcher(list);
        while (tag.find()) {
            String found = tag.group(1);
            if (found.equals(entityTag) || (weakly && found.equals("W/" + entityTag))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether ranges are sent to a client with this {@code If-Range} (13.1.5): it names no other version as the
     * one that it has in part.
     *
     * @param validator null if there is none
     * @param date what the validator is as a date; null if it is none
     */
    public boolean rangeApplies(@Nullable String validator, @Nullable Instant date, Instant now) {
        if (validator == null) {
            return true;
        }
        if (validator.contains("\"")) {
            return validator.strip().equals(entityTag);
        }
        // A date is a strong validator only if the file cannot have changed again within that second (8.8.2.2).
        return date != null && date.equals(lastModified) && now.minusSeconds(1).isAfter(date);
    }
}
