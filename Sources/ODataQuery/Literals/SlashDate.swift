internal import EDM

/// The date format `/Date(milliseconds)/` or `/Date(milliseconds+offset)/` of V2 JSON: UTC milliseconds since 1970, and
/// the offset in minutes.
struct SlashDate {
    let milliseconds: Int64
    let offsetMinutes: Int?

    /// Parses a date. Returns nil for text of a different form and for numbers that are too large for a date.
    init?(_ text: String) {
        guard text.hasPrefix("/Date(") else { return nil }
        var cursor = TextCursor(text)
        _ = cursor.consume("/Date(")
        let isNegative = cursor.consume("-")
        guard let milliseconds = cursor.digits(1...18) else { return nil }
        var offset: Int?
        if let sign = cursor.next, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
            cursor.skip()
            guard let minutes = cursor.digits(1...4) else { return nil }
            offset = Int(sign == UInt8(ascii: "-") ? -minutes : minutes)
        }
        guard cursor.consume(")/"), cursor.isAtEnd else { return nil }
        self.milliseconds = isNegative ? -milliseconds : milliseconds
        offsetMinutes = offset
    }

    static func text(_ milliseconds: Int64, offsetMinutes: Int = 0) -> String {
        guard offsetMinutes != 0 else { return "/Date(\(milliseconds))/" }
        return "/Date(\(milliseconds)" + (offsetMinutes < 0 ? "-" : "+")
            + padded(Int64(offsetMinutes.magnitude), 4) + ")/"
    }
}
