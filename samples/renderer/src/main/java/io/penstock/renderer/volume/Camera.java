// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/**
 * The point of view: orthographic, around the patient. Azimuth 0, elevation 0 is the face from the front; azimuth 90 is
 * from the patient's left, elevation 90 from above.
 *
 * @param azimuthDegrees around the patient
 * @param elevationDegrees above the horizon, -90 to 90
 */
public record Camera(double azimuthDegrees, double elevationDegrees) {

    public Camera {
        if (!Double.isFinite(azimuthDegrees)) {
            throw new IllegalArgumentException("azimuth must be finite, was " + azimuthDegrees + " degrees");
        }
        if (!(elevationDegrees >= -90 && elevationDegrees <= 90)) {
            throw new IllegalArgumentException("elevation must be from -90 to 90 degrees, was " + elevationDegrees);
        }
    }

    /** Returns the screen's right, up and towards the viewer as directions in the patient. */
    double[][] directions() {
        // StrictMath: the same picture on every machine. Multiples of 90 degrees must not leave a rest of 1e-17.
        double sinA = sin(azimuthDegrees);
        double cosA = sin(azimuthDegrees + 90);
        double sinE = sin(elevationDegrees);
        double cosE = sin(elevationDegrees + 90);
        return new double[][] {
            {-cosA, -sinA, 0},
            {sinA * sinE, -cosA * sinE, cosE},
            {-sinA * cosE, cosA * cosE, sinE},
        };
    }

    private static double sin(double degrees) {
        double turn = degrees % 360;
        if (turn % 180 == 0) {
            return 0;
        }
        return StrictMath.sin(StrictMath.toRadians(turn));
    }
}
