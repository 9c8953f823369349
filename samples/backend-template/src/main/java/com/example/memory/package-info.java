// SPDX-License-Identifier: Apache-2.0
/** A complete backend, as a third party writes it: memory of its own behind the engine's staging. */
@NullMarked
package com.example.memory;

import org.jspecify.annotations.NullMarked;
