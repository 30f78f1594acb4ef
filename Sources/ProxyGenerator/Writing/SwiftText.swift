internal import EDM

/// Pieces of Swift source.
enum SwiftText {
    /// Returns a string literal.
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

    /// Returns the text of a document as a raw multiline literal, with each line indented by the given number of
    /// spaces.
    static func block(_ document: String, indentation: Int) -> String {
        let hashes = String(repeating: "#", count: longestEscape(document) + 1)
        let margin = String(repeating: " ", count: indentation)
        var result = margin + hashes + "\"\"\"\n"
        for line in document.split(separator: "\n", omittingEmptySubsequences: false) {
            // The only character that is valid in XML but not in Swift sources.
            let line = line.replacing("\u{7F}", with: "\\\(hashes)u{7F}")
            result += line.isEmpty ? "\n" : margin + line + "\n"
        }
        return result + margin + "\"\"\"" + hashes
    }

    /// Returns the largest number of consecutive number signs after a quote or backslash. A raw literal with one more
    /// has no escapes.
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

    /// Returns the text in a form that is valid in a one-line comment.
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

    /// Returns the Swift type of primitive values; nil for streams, which are not values.
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
        case _ where primitive.isGeo: "GeoShape"
        default: "Value"
        }
    }
}
