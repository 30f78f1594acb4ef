#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The properties of the terminal of standard output.
enum Terminal {
    /// The width in columns, or nil if standard output is no terminal, so that output for programs is never truncated.
    /// `COLUMNS` has precedence, because a user may have set it.
    static let width: Int? = {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        if let columns = variable("COLUMNS").flatMap({ Int($0) }), columns > 0 { return columns }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }()

    /// Whether output has colors: on a terminal that supports them, unless `NO_COLOR` is set (no-color.org).
    /// `CLICOLOR_FORCE` enables them everywhere, for example for a pager.
    static let hasColour: Bool = {
        if let no = variable("NO_COLOR"), !no.isEmpty { return false }
        if let force = variable("CLICOLOR_FORCE"), !force.isEmpty, force != "0" { return true }
        return isatty(STDOUT_FILENO) == 1 && variable("TERM") != "dumb"
    }()

    /// Whether a user can answer on standard input.
    static var isInput: Bool { isatty(STDIN_FILENO) == 1 }

    static let isOutput = isatty(STDOUT_FILENO) == 1

    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

/// Colors for important text. The text is the same without them.
enum TextColor {
    /// Success.
    static func good(_ text: String) -> String { painted(text, "32") }
    /// Waiting, or to be checked.
    static func warning(_ text: String) -> String { painted(text, "33") }
    /// Rejected, damaged or different.
    static func bad(_ text: String) -> String { painted(text, "31") }
    /// Less important.
    static func faint(_ text: some CustomStringConvertible) -> String { painted("\(text)", "2") }

    private static func painted(_ text: String, _ code: String) -> String {
        Terminal.hasColour && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
