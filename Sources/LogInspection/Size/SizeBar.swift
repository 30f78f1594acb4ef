/// A bar of block characters for a size: dark blocks for the stored size, light ones for the part that compression
/// saves.
package enum SizeBar {
    /// Returns a bar.
    ///
    /// - Parameters:
    ///   - largest: The size that corresponds to the full width, in bytes.
    ///   - width: The full width in characters. A size greater than zero has at least one.
    package static func text(stored: UInt64, raw: UInt64, largest: UInt64, width: Int = 24) -> String {
        let dark = length(stored, largest, width)
        let all = max(dark, length(max(raw, stored), largest, width))
        return String(repeating: "█", count: dark) + String(repeating: "░", count: all - dark)
    }

    private static func length(_ bytes: UInt64, _ largest: UInt64, _ width: Int) -> Int {
        guard bytes > 0, largest > 0, width > 0 else { return 0 }
        let share = min(1, Double(bytes) / Double(largest))
        return max(1, Int((share * Double(width)).rounded()))
    }
}
