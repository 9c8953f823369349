// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FrameRequestTest {

    private static final String QUERY = "backend=host&path=&view=mip&azimuth=1&elevation=2&side=512&zoom=1&level=0.5"
            + "&window=1&budget=2000000&chunk=1&depth=2";

    @Test
    void aQueryIsARequest() {
        FrameRequest request = FrameRequest.parse(QUERY, 2_000_000);
        assertThat(request.display().side()).isEqualTo(512);
        assertThat(request.budget().depth()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({
        "depth=2, depth=65, 'depth must be 2 to 64, was 65'",
        "depth=2, depth=2147483648, 'depth must be a number of 32 bits, was 2147483648'",
        "side=512, side=4294967808, 'side must be a number of 32 bits, was 4294967808'",
        "side=512, side=1x, 'side must be a whole number, was ''1x'''",
        "budget=2000000, budget=2000001, 'budget must be at most 2000000 bytes for this volume, was 2000001'"
    })
    void aFieldThatIsOutOfRangeIsNamed(String field, String wrong, String complaint) {
        assertThatThrownBy(() -> FrameRequest.parse(QUERY.replace(field, wrong), 2_000_000))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(complaint);
    }
}
