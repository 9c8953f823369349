// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import io.netty.handler.codec.http.QueryStringDecoder;
import io.penstock.renderer.View;
import io.penstock.renderer.volume.Budget;
import io.penstock.renderer.volume.Camera;
import io.penstock.renderer.volume.Display;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A page's request for one frame, with these settings.
 *
 * @param source the backend and the path that read the voxels
 * @param view what is drawn
 * @param camera from where, for views that turn
 * @param display at which size, and in which window
 * @param budget how much of the volume may be in memory
 */
record FrameRequest(VoxelSource source, View view, Camera camera, Display display, Budget budget) {

    private static final int MOST_FIELDS = 32;

    /**
     * Parses a request, which is written as the query of a URL is.
     *
     * @param mostBytes the largest budget
     * @throws IllegalArgumentException if a field is missing or out of range; the message names it
     */
    static FrameRequest parse(String query, long mostBytes) {
        Map<String, List<String>> fields = QueryStringDecoder.builder()
                .hasPath(false)
                .maxParams(MOST_FIELDS)
                .build(query)
                .parameters();
        Budget budget = new Budget(whole(fields, "budget"), whole(fields, "chunk"), small(fields, "depth"));
        if (budget.bytes() > mostBytes) {
            throw new IllegalArgumentException(
                    "budget must be at most " + mostBytes + " bytes for this volume, was " + budget.bytes());
        }
        return new FrameRequest(
                new VoxelSource(text(fields, "backend"), text(fields, "path")),
                view(text(fields, "view")),
                new Camera(number(fields, "azimuth"), number(fields, "elevation")),
                new Display(
                        small(fields, "side"),
                        number(fields, "zoom"),
                        number(fields, "level"),
                        number(fields, "window")),
                budget);
    }

    private static View view(String name) {
        try {
            return View.valueOf(name.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("view must be x, y, z, mip or shaded, was '" + name + "'", e);
        }
    }

    private static String text(Map<String, List<String>> fields, String name) {
        List<String> values = fields.getOrDefault(name, List.of());
        if (values.size() != 1) {
            throw new IllegalArgumentException(name + " must be there once, was there " + values.size() + " times");
        }
        return values.get(0);
    }

    private static long whole(Map<String, List<String>> fields, String name) {
        String text = text(fields, name);
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " must be a whole number, was '" + text + "'", e);
        }
    }

    private static int small(Map<String, List<String>> fields, String name) {
        long number = whole(fields, name);
        if (number != (int) number) {
            throw new IllegalArgumentException(name + " must be a number of 32 bits, was " + number);
        }
        return (int) number;
    }

    private static double number(Map<String, List<String>> fields, String name) {
        String text = text(fields, name);
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " must be a number, was '" + text + "'", e);
        }
    }
}
