// SPDX-License-Identifier: Apache-2.0
/** Objects in S3 and in object stores like it, as files to transfer: {@code s3://BUCKET/KEY}. Their options. */
@NullMarked
package io.penstock.remote.s3;

import org.jspecify.annotations.NullMarked;
