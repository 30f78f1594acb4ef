/// A configuration file with download settings of defining queries that differ from the defaults.
///
///     # Data that are the same for all users.
///     [defining_query]
///     name = Features
///     is_shared_data = Y
///     refresh_interval = 60
///
/// Each section configures one query, with one parameter per line, in any order. A line that begins with `#` or `;` is
/// a comment. The names are those of the product with the same API; `Docs/DefiningQueries.md` lists all of them.
package struct DefiningQueryFile: Sendable, Hashable {
    /// The settings by the name of the query.
    package private(set) var settings: [String: DefiningQuerySettings] = [:]

    /// Parses a configuration file.
    ///
    /// - Throws: An error for the first line that is not recognized or has an invalid value.
    package init(_ text: String) throws(DefiningQueryFileError) {
        var section: ParameterSection?
        // Windows editors may write a byte order mark.
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        // In Swift a carriage return and its line feed are one character.
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let number = index + 1
            let line = Self.trimmed(line)
            guard let first = line.first, first != "#", first != ";" else { continue }
            if first == "[" {
                guard line == "[\(ParameterSection.name)]" else {
                    throw .init(
                        line: number, "There is no section \(line); the only one is [\(ParameterSection.name)].")
                }
                if let section { try add(section) }
                section = ParameterSection(line: number)
            } else if section == nil {
                throw .init(line: number, "A parameter follows the line [\(ParameterSection.name)].")
            } else {
                try section?.read(line, number)
            }
        }
        if let section { try add(section) }
    }

    private mutating func add(_ section: ParameterSection) throws(DefiningQueryFileError) {
        guard let query = section.query else {
            throw .init(line: section.line, "The section does not name its query.")
        }
        guard settings.updateValue(section.settings, forKey: query) == nil else {
            throw .init(line: section.line, "The query \(query) already has a section.")
        }
    }

    fileprivate static func trimmed(_ text: some StringProtocol) -> String {
        func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" || character == "\r" }
        let end = text.lastIndex { !isSpace($0) }.map { text.index(after: $0) } ?? text.startIndex
        return String(text[..<end].drop(while: isSpace))
    }
}

/// An error in a configuration file, with its line.
package struct DefiningQueryFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line number, beginning with 1.
    package let line: Int
    /// The message: one sentence.
    package let message: String

    init(line: Int, _ message: String) {
        self.line = line
        self.message = message
    }

    package var description: String { "Line \(line): \(message)" }
}

/// The content of one section.
private struct ParameterSection {
    static let name = "defining_query"

    let line: Int
    var query: String?
    var settings = DefiningQuerySettings()
    private var seen: Set<Parameter> = []

    enum Parameter: String, CaseIterable {
        case name
        case isSharedData = "is_shared_data"
        case refreshInterval = "refresh_interval"
        case trackDeltas = "track_deltas"
        case deltaTokenLifetime = "delta_token_lifetime"
        case allowsRemoval = "allow_defining_query_removal"
    }

    init(line: Int) { self.line = line }

    mutating func read(_ text: String, _ line: Int) throws(DefiningQueryFileError) {
        guard let equals = text.firstIndex(of: "=") else {
            throw .init(line: line, "'\(text)' is not of the form parameter = value.")
        }
        let name = DefiningQueryFile.trimmed(text[..<equals])
        let value = DefiningQueryFile.trimmed(text[text.index(after: equals)...])
        guard let parameter = Parameter(rawValue: name) else {
            let known = Parameter.allCases.map(\.rawValue).joined(separator: ", ")
            throw .init(line: line, "There is no parameter \(name). The parameters are \(known).")
        }
        guard seen.insert(parameter).inserted else { throw .init(line: line, "\(name) occurs twice in the section.") }
        guard set(parameter, value) else {
            throw .init(line: line, "\(name) must be \(Self.values(of: parameter)), not '\(value)'.")
        }
    }

    /// Sets a parameter. Returns false if the value is invalid for it.
    private mutating func set(_ parameter: Parameter, _ value: String) -> Bool {
        switch parameter {
        case .name:
            query = value
            return !value.isEmpty
        case .isSharedData: return Self.set(&settings.isSharedData, ["Y": true, "N": false][value])
        case .allowsRemoval: return Self.set(&settings.allowsRemoval, ["Y": true, "N": false][value])
        case .trackDeltas: return Self.set(&settings.trackDeltas, .init(rawValue: value))
        case .refreshInterval: return Self.set(&settings.refreshInterval, Self.minutes(value, from: 0))
        case .deltaTokenLifetime: return Self.set(&settings.deltaTokenLifetime, Self.minutes(value, from: 1))
        }
    }

    private static func set<T>(_ setting: inout T, _ value: T?) -> Bool {
        guard let value else { return false }
        setting = value
        return true
    }

    /// Ten years. A larger value is probably a mistake.
    private static let longest = 5_256_000

    private static func minutes(_ text: String, from first: Int) -> Int? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text).flatMap { (first...longest).contains($0) ? $0 : nil }
    }

    private static func values(of parameter: Parameter) -> String {
        switch parameter {
        case .name: "the name of a query"
        case .isSharedData, .allowsRemoval: "Y or N"
        case .trackDeltas: DefiningQuerySettings.DeltaTracking.allCases.map(\.rawValue).joined(separator: ", ")
        case .refreshInterval: "minutes from 0 to \(longest)"
        case .deltaTokenLifetime: "minutes from 1 to \(longest)"
        }
    }
}
