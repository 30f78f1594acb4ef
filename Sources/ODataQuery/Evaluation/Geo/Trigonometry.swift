/// Trigonometric functions with a relative error of a few units in the last place.
///
/// The layer uses no module of the system, and the results are the same on all platforms.
enum Trigonometry {
    /// Returns the sine and the cosine of an angle. Multiples of 90 degrees are exact.
    static func sineAndCosine(degrees: Double) -> (sine: Double, cosine: Double) {
        let rest = degrees.remainder(dividingBy: 90)
        let quarters = ((degrees - rest) / 90).rounded().remainder(dividingBy: 4)
        let (sine, cosine) = sineAndCosine(small: rest * (.pi / 180))
        switch quarters {
        case 0: return (sine, cosine)
        case 1: return (cosine, -sine)
        case -1: return (-cosine, sine)
        default: return (-sine, -cosine)
        }
    }

    /// Returns the sine and the cosine of an angle of at most 45 degrees, by their series.
    private static func sineAndCosine(small angle: Double) -> (sine: Double, cosine: Double) {
        let square = angle * angle
        var (sine, cosine) = (0.0, 0.0)
        // The next terms are below 1e-19.
        for power in stride(from: 20.0, through: 2, by: -2) {
            sine = -square / (power * (power + 1)) * (1 + sine)
            cosine = -square / (power * (power - 1)) * (1 + cosine)
        }
        return (angle * (1 + sine), 1 + cosine)
    }

    /// Returns the angle between the positive x-axis and a direction, from -pi to pi; 0 for no direction.
    static func angle(y: Double, x: Double) -> Double {
        let (height, width) = (abs(y), abs(x))
        guard height > 0 || width > 0 else { return 0 }
        let acute = height <= width ? arcTangent(height / width) : .pi / 2 - arcTangent(width / height)
        let angle = x < 0 ? .pi - acute : acute
        return y < 0 ? -angle : angle
    }

    /// Returns the arc tangent of a number from 0 to 1.
    private static func arcTangent(_ tangent: Double) -> Double {
        // The tangent of a quarter of the angle is below 0.2, where the series converges fast.
        var part = tangent
        for _ in 0..<2 { part /= 1 + (1 + part * part).squareRoot() }
        let square = part * part
        var sum = 0.0
        for power in stride(from: 27.0, through: 1, by: -2) { sum = 1 / power - square * sum }
        return 4 * part * sum
    }
}
