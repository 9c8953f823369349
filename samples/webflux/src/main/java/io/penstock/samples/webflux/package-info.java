// SPDX-License-Identifier: Apache-2.0
/** A Spring Boot application that sends and receives the files of a folder. */
@NullMarked
package io.penstock.samples.webflux;

import org.jspecify.annotations.NullMarked;
