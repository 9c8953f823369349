// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The objects and folders of a folder: keys with its prefix, up to their next slash. A page of at most 1000 is
 * requested when all of the last page has been taken.
 *
 * <p>Not thread-safe; requests block.
 */
final class S3Listing implements DirectoryStream<Path> {

    private static final Pattern ITEM =
            Pattern.compile("<(Contents|CommonPrefixes)>.*?<(Key|Prefix)>([^<]*)</\\2>.*?</\\1>", Pattern.DOTALL);
    private static final Pattern NEXT = Pattern.compile("<NextContinuationToken>([^<]+)</NextContinuationToken>");

    /** Requests a page by the query. */
    interface Pages {
        String page(String query) throws IOException;
    }

    private final String bucket;
    private final String prefix;
    private final Pages pages;
    private final Filter<? super Path> filter;
    private final Deque<Path> page = new ArrayDeque<>();
    private @Nullable String next = ""; // the token of the next page; null behind the last one
    private boolean begun;

    S3Listing(URI folder, Pages pages, Filter<? super Path> filter) {
        this.bucket = "s3://" + folder.getRawAuthority() + "/";
        String key = folder.getPath().replaceFirst("^/", "");
        this.prefix = key.isEmpty() || key.endsWith("/") ? key : key + "/";
        this.pages = pages;
        this.filter = filter;
    }

    @Override
    public Iterator<Path> iterator() {
        if (begun) {
            throw new IllegalStateException("a listing can be iterated once");
        }
        begun = true;
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return isFilled();
            }

            @Override
            public Path next() {
                if (!isFilled()) {
                    throw new NoSuchElementException();
                }
                return page.remove();
            }
        };
    }

    /** Returns whether there is another path, for which the next page may be requested. */
    private boolean isFilled() {
        while (page.isEmpty() && next != null) {
            try {
                request(next);
            } catch (IOException e) {
                throw new DirectoryIteratorException(e);
            }
        }
        return !page.isEmpty();
    }

    private void request(String token) throws IOException {
        String answer = pages.page("list-type=2&delimiter=%2F&encoding-type=url&prefix=" + query(prefix)
                + (token.isEmpty() ? "" : "&continuation-token=" + query(token)));
        if (!answer.contains("<ListBucketResult") || !answer.contains("</ListBucketResult>")) {
            throw new IOException("the answer to the listing of " + bucket + prefix + " is none, or ends early");
        }
        boolean encoded = answer.contains("<EncodingType>url</EncodingType>");
        Matcher item = ITEM.matcher(answer);
        while (item.find()) {
            String text = Multipart.XmlText.read(item.group(3));
            String key = encoded ? URLDecoder.decode(text, StandardCharsets.UTF_8) : text;
            Path path = Path.of(URI.create(bucket + Address.escaped(key)));
            if (!key.equals(prefix) && filter.accept(path)) {
                page.add(path);
            }
        }
        Matcher more = NEXT.matcher(answer);
        next = more.find() ? Multipart.XmlText.read(more.group(1)) : null;
        if (next == null ? answer.contains("<IsTruncated>true<") : next.equals(token)) {
            throw new IOException(
                    "the listing of " + bucket + prefix + " is cut off: the store does not say how it goes" + " on");
        }
    }

    private static String query(String text) {
        return Address.escaped(text).replace("/", "%2F");
    }

    @Override
    public void close() {
        next = null;
        page.clear();
    }
}
