// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

/**
 * How far a load is.
 *
 * @param done the bytes that have arrived
 * @param total the bytes that are to arrive
 */
public record LoadProgress(long done, long total) {}
