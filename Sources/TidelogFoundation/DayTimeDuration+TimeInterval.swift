#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
public import Tidelog

extension DayTimeDuration {
    /// Creates the duration of a number of seconds, rounded to picoseconds. Returns `nil` for a number that is not
    /// finite, or of more than `Int64.max` seconds.
    ///
    /// The digits are those of the shortest decimal number that converts back to the interval: 0.1 is a tenth of a
    /// second, not the binary number next to it.
    public init?(timeInterval: TimeInterval) {
        let (seconds, fraction) = DecimalValue(timeInterval).magnitude.rounded(toScale: 12)
            .quotientAndRemainder(dividingBy: 1)
        guard let seconds = seconds.int64Value, let picoseconds = (fraction * 1_000_000_000_000).int64Value else {
            return nil
        }
        self.init(isNegative: timeInterval < 0, seconds: seconds, picoseconds: picoseconds)
    }

    /// The number of seconds, rounded to the nearest `TimeInterval`.
    public var timeInterval: TimeInterval {
        let fraction = String(picoseconds)
        let zeros = String(repeating: "0", count: max(0, 12 - fraction.utf8.count))
        let seconds = Double("\(seconds).\(zeros)\(fraction)") ?? Double(seconds)
        return isNegative ? -seconds : seconds
    }
}
