// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/**
 * A place in the memory of a device. OpenCL has no addresses, so the two parts are separate.
 *
 * @param memory the device's name for the memory
 * @param offset in bytes from its start
 */
public record DevicePlace(long memory, long offset) {}
