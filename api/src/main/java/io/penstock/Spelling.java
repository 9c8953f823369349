// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Finds the most likely correction of a misspelt word. */
final class Spelling {

    private static final int MOST_EDITS = 2;

    private Spelling() {}

    /**
     * Returns the word of {@code words} that is at most two edits, and fewer than its length, away from {@code word};
     * or null.
     */
    static @Nullable String nearest(String word, Collection<String> words) {
        String nearest = null;
        int least = MOST_EDITS + 1;
        for (String candidate : words) {
            int edits = edits(word, candidate);
            if (edits < least && edits < Math.min(word.length(), candidate.length())) {
                nearest = candidate;
                least = edits;
            }
        }
        return nearest;
    }

    /** Returns the number of letters to add, remove, replace or swap with their neighbour. */
    static int edits(String a, String b) {
        int[][] edits = new int[a.length() + 1][b.length() + 1]; // of the first i letters of a and j of b
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    edits[i][j] = i + j;
                    continue;
                }
                int replaced = edits[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                int least = Math.min(replaced, Math.min(edits[i - 1][j], edits[i][j - 1]) + 1);
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    least = Math.min(least, edits[i - 2][j - 2] + 1);
                }
                edits[i][j] = least;
            }
        }
        return edits[a.length()][b.length()];
    }
}
