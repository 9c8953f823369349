// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.api;

import io.penstock.Option;

/** The options of a backend that the paths read, or name in messages. */
public record GpuOptions(
        Option<? extends Enum<?>> path,
        Option<?> context,
        Option<? extends Enum<?>> register,
        Option<Long> registerBytes,
        Option<Long> directBytes,
        Option<Long> segmentBytes,
        Option<Integer> threads,
        Option<Integer> streams) {}
