// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import io.penstock.CommonOptions;
import io.penstock.Options;
import org.junit.jupiter.api.Tag;

/** As its parent, with every signal delivered on the I/O queue. */
@Tag("variant")
class DirectReactiveStreamsTest extends ReactiveStreamsTest {

    @Override
    Options options() {
        return Options.none().with(CommonOptions.DELIVERY, CommonOptions.Delivery.DIRECT);
    }
}
