// SPDX-License-Identifier: Apache-2.0
package io.penstock.readme;

/** What the renderer of the samples makes. */
public record Frame(long number) {}
