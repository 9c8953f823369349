// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

/** The same, read by the backend. */
class LeasedSendTest extends SendTest {

    @Override
    HttpFiles of(HttpFiles files) {
        return files.sendfile(false);
    }
}
