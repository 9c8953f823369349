// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The conditions of a request (RFC 9110, 13), evaluated in the order of 13.2.2. */
final class Conditions {

    private static final Pattern TAG = Pattern.compile("\\G[\\s,]*((?:W/)?\"[^\"]*\")");

    private final HttpHeaders headers;
    private final FoundFile file;

    Conditions(HttpHeaders headers, FoundFile file) {
        this.headers = headers;
        this.file = file;
    }

    /** Returns true if the client requires a version and this is another one (412). */
    boolean failed() {
        if (headers.contains(HttpHeaderNames.IF_MATCH)) {
            return !lists(headers.getAll(HttpHeaderNames.IF_MATCH), false);
        }
        Instant since = date(headers.get(HttpHeaderNames.IF_UNMODIFIED_SINCE));
        return since != null && file.lastModified().isAfter(since);
    }

    /** Returns true if the client already has this version (304). */
    boolean notModified() {
        if (headers.contains(HttpHeaderNames.IF_NONE_MATCH)) {
            return lists(headers.getAll(HttpHeaderNames.IF_NONE_MATCH), true);
        }
        Instant since = date(headers.get(HttpHeaderNames.IF_MODIFIED_SINCE));
        return since != null && !file.lastModified().isAfter(since);
    }

    /** Returns true if ranges apply: the client names no other version as the one that it has in part. */
    boolean rangeApplies(Instant now) {
        String validator = headers.get(HttpHeaderNames.IF_RANGE);
        if (validator == null) {
            return true;
        }
        if (validator.contains("\"")) {
            return validator.strip().equals(file.entityTag());
        }
        // A date is a strong validator only if the file cannot have changed again within that second (8.8.2.2).
        Instant date = date(validator);
        return date != null
                && date.equals(file.lastModified())
                && now.minusSeconds(1).isAfter(date);
    }

    private boolean lists(List<String> values, boolean weakly) {
        String list = String.join(",", values);
        if (list.strip().equals("*")) {
            return true;
        }
        Matcher tag = TAG.matcher(list);
        while (tag.find()) {
            String found = tag.group(1);
            if (found.equals(file.entityTag()) || (weakly && found.equals("W/" + file.entityTag()))) {
                return true;
            }
        }
        return false;
    }

    /** An invalid date is ignored (13.1.3, 13.1.4). */
    private static @Nullable Instant date(@Nullable String value) {
        Date date = value == null ? null : DateFormatter.parseHttpDate(value);
        return date == null ? null : date.toInstant();
    }
}
