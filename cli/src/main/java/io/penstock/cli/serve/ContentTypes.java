// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/** Media types by file name. */
final class ContentTypes {

    private static final String OTHER = "application/octet-stream";

    private static final Map<String, String> BY_EXTENSION = Map.ofEntries(
            Map.entry("avif", "image/avif"),
            Map.entry("css", "text/css; charset=utf-8"),
            Map.entry("csv", "text/csv; charset=utf-8"),
            Map.entry("gif", "image/gif"),
            Map.entry("gz", "application/gzip"),
            Map.entry("htm", "text/html; charset=utf-8"),
            Map.entry("html", "text/html; charset=utf-8"),
            Map.entry("ico", "image/vnd.microsoft.icon"),
            Map.entry("jpeg", "image/jpeg"),
            Map.entry("jpg", "image/jpeg"),
            Map.entry("js", "text/javascript; charset=utf-8"),
            Map.entry("json", "application/json"),
            Map.entry("md", "text/markdown; charset=utf-8"),
            Map.entry("mjs", "text/javascript; charset=utf-8"),
            Map.entry("mp3", "audio/mpeg"),
            Map.entry("mp4", "video/mp4"),
            Map.entry("ogg", "audio/ogg"),
            Map.entry("pdf", "application/pdf"),
            Map.entry("png", "image/png"),
            Map.entry("svg", "image/svg+xml"),
            Map.entry("tar", "application/x-tar"),
            Map.entry("txt", "text/plain; charset=utf-8"),
            Map.entry("wasm", "application/wasm"),
            Map.entry("wav", "audio/wav"),
            Map.entry("webm", "video/webm"),
            Map.entry("webp", "image/webp"),
            Map.entry("woff2", "font/woff2"),
            Map.entry("xml", "application/xml"),
            Map.entry("zip", "application/zip"));

    private ContentTypes() {}

    static String of(Path file) {
        String name = String.valueOf(file.getFileName());
        int dot = name.lastIndexOf('.');
        String extension = dot < 0 ? "" : name.substring(dot + 1).toLowerCase(Locale.ROOT);
        return BY_EXTENSION.getOrDefault(extension, OTHER);
    }
}
