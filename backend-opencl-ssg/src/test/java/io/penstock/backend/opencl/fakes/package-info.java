// SPDX-License-Identifier: Apache-2.0
/**
 * AMD's driver for Radeon Pro SSG made of any other OpenCL: a layer in C ({@code src/test/c}), written from AMD's
 * manual alone.
 */
@NullMarked
package io.penstock.backend.opencl.fakes;

import org.jspecify.annotations.NullMarked;
