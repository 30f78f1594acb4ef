internal import Foundation

/// Numbers for reports: three significant digits, with separated thousands.
enum NumberText {
    static func short(_ value: Double) -> String {
        guard value.isFinite else { return "\(value)" }
        switch abs(value) {
        case 0: return "0"
        case ..<0.001: return String(format: "%.1e", value)
        case ..<0.1: return trimmed(String(format: "%.4f", value))
        case ..<10: return trimmed(String(format: "%.2f", value))
        case ..<100: return trimmed(String(format: "%.1f", value))
        default: return grouped(rounded(value))
        }
    }

    /// Rounds to significant digits; further digits would be noise.
    private static func rounded(_ value: Double) -> Int {
        var step = 1
        while abs(value) / Double(step) >= 9_999.5 { step *= 10 }
        return Int((value / Double(step)).rounded()) * step
    }

    private static func grouped(_ value: Int) -> String {
        var digits = String(abs(value))
        var text = ""
        while digits.count > 3 {
            text = "," + digits.suffix(3) + text
            digits.removeLast(3)
        }
        return (value < 0 ? "-" : "") + digits + text
    }

    private static func trimmed(_ text: String) -> String {
        var text = Substring(text)
        while text.last == "0" { text = text.dropLast() }
        return String(text.last == "." ? text.dropLast() : text)
    }
}
