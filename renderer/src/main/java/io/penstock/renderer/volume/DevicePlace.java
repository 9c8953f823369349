// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/**
 * A place in the memory of a device. OpenCL has no addresses, and so the two parts stay apart.
 *
 * @param memory what the device knows it by
 * @param offset in bytes from its start
 */
public record DevicePlace(long memory, long offset) {}
