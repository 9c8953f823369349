// SPDX-License-Identifier: Apache-2.0
/** What Spring Boot 4 and 3.5 configure by themselves: a Backend from properties, its health, files over HTTP. */
@NullMarked
package io.penstock.spring.boot;

import org.jspecify.annotations.NullMarked;
