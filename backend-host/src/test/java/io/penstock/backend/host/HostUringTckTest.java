// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;

/** The rules over io_uring and the page cache. */
class HostUringTckTest implements BackendRules {

    @Override
    public TckSubject subject() {
        return HostSubject.uring();
    }
}
