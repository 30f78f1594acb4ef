/// Text for a terminal. Text from other sources, such as entities and messages of services, must not be able to control
/// the terminal.
///
/// Control characters, including those of the second set, and characters that change the direction of writing are
/// printed as JSON escapes, such as `\\u001b`; JSON remains valid. Line breaks, tabs and the colors of ``TextColor`` are
/// unchanged. Output for programs is not changed.
enum TerminalText {
    static func harmless(_ bytes: [UInt8]) -> [UInt8] {
        // Most output contains no such characters.
        guard bytes.contains(where: { $0 < 0x20 && $0 != 0x0A && $0 != 0x09 || $0 >= 0x7F }) else { return bytes }
        var result: [UInt8] = []
        let scalars = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            if isHarmless(scalars, index) {
                result += Array(String(scalar).utf8)
            } else {
                let digits = String(scalar.value, radix: 16)
                result += Array(("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
            }
        }
        return result
    }

    private static func isHarmless(_ scalars: [Unicode.Scalar], _ index: Int) -> Bool {
        switch scalars[index].value {
        case 0x0A, 0x09: true
        case 0x0D: index + 1 < scalars.count && scalars[index + 1] == "\n"
        case 0x1B: beginsColour(scalars[(index + 1)...])
        case 0x00..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: false
        default: true
        }
    }

    /// Returns whether the text starts with a color sequence such as `[31m`.
    private static func beginsColour(_ rest: ArraySlice<Unicode.Scalar>) -> Bool {
        guard rest.first == "[" else { return false }
        let digits = rest.dropFirst().prefix { ("0"..."9").contains($0) }
        return (1...2).contains(digits.count) && rest.dropFirst(1 + digits.count).first == "m"
    }
}
