// SPDX-License-Identifier: Apache-2.0
/** Many small files at a time: {@link io.penstock.Backend#pack}. */
@NullMarked
package io.penstock.engine.pack;

import org.jspecify.annotations.NullMarked;
