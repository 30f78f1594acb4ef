#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// What is known of the terminal that standard output goes to.
enum Terminal {
    /// In columns; nil where standard output is no terminal, so that what a program reads is never cut. `COLUMNS` comes
    /// first, as a person may have set it.
    static let width: Int? = {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        if let columns = variable("COLUMNS").flatMap({ Int($0) }), columns > 0 { return columns }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }()

    /// Only on a terminal that knows colours, and not where `NO_COLOR` is set (no-color.org). `CLICOLOR_FORCE` asks for them
    /// everywhere, as for a pager.
    static let hasColour: Bool = {
        if let no = variable("NO_COLOR"), !no.isEmpty { return false }
        if let force = variable("CLICOLOR_FORCE"), !force.isEmpty, force != "0" { return true }
        return isatty(STDOUT_FILENO) == 1 && variable("TERM") != "dumb"
    }()

    /// Whether a person can answer on standard input.
    static var isInput: Bool { isatty(STDIN_FILENO) == 1 }

    static let isOutput = isatty(STDOUT_FILENO) == 1

    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

/// Colours for what a person looks for first. The text is the same without them.
enum Paint {
    /// Done, and as it should be.
    static func good(_ text: String) -> String { painted(text, "32") }
    /// Waiting, or to be looked at.
    static func warning(_ text: String) -> String { painted(text, "33") }
    /// Refused, damaged, different.
    static func bad(_ text: String) -> String { painted(text, "31") }
    /// Less than the rest.
    static func faint(_ text: some CustomStringConvertible) -> String { painted("\(text)", "2") }

    private static func painted(_ text: String, _ code: String) -> String {
        Terminal.hasColour && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
