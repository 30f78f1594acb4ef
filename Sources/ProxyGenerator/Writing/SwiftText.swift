internal import EDM

/// Pieces of Swift source.
enum SwiftText {
    /// A string literal.
    static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\" + String(scalar)
            case " "..."~": result.unicodeScalars.append(scalar)
            default:
                if scalar.properties.isAlphabetic {
                    result.unicodeScalars.append(scalar)
                } else {
                    result += "\\u{" + String(scalar.value, radix: 16) + "}"
                }
            }
        }
        return result + "\""
    }

    /// The text of a document as a raw literal over several lines, each indented by so many spaces.
    static func block(_ document: String, indentation: Int) -> String {
        let hashes = String(repeating: "#", count: longestEscape(document) + 1)
        let margin = String(repeating: " ", count: indentation)
        var result = margin + hashes + "\"\"\"\n"
        for line in document.split(separator: "\n", omittingEmptySubsequences: false) {
            // The one character that XML has and sources have not.
            let line = line.replacing("\u{7F}", with: "\\\(hashes)u{7F}")
            result += line.isEmpty ? "\n" : margin + line + "\n"
        }
        return result + margin + "\"\"\"" + hashes
    }

    /// The most number signs that follow a quote or backslash. With one more around it a raw literal has no escapes.
    private static func longestEscape(_ text: String) -> Int {
        var longest = 0
        var run: Int?
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): run = 0
            case UInt8(ascii: "#"): run = run.map { $0 + 1 }
            default: run = nil
            }
            longest = max(longest, run ?? 0)
        }
        return longest
    }

    /// Text for a comment of one line.
    static func comment(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map {
                    switch $0.properties.generalCategory {
                    case .control, .lineSeparator, .paragraphSeparator, .format: " "
                    default: $0
                    }
                }))
    }

    /// The Swift type of primitive values; nil for streams, which are no values.
    static func type(_ primitive: PrimitiveType) -> String? {
        switch primitive {
        case .stream: nil
        case .string: "String"
        case .boolean: "Bool"
        case .byte, .sbyte, .int16, .int32, .int64: "Int"
        case .single: "Float"
        case .double: "Double"
        case .decimal: "DecimalValue"
        case .guid: "GuidValue"
        case .binary: "[UInt8]"
        case .date: "LocalDate"
        case .timeOfDay: "LocalTime"
        case .time, .duration: "DayTimeDuration"
        case .dateTime: "LocalDateTime"
        case .dateTimeOffset: "GlobalDateTime"
        default: "Value"
        }
    }
}
