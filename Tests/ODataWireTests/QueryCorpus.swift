import EDM
import Foundation
import ODataWire

/// The query corpora in a directory next to the checkout, as rows of JSON Lines files.
enum QueryCorpus {
    static let root: URL = {
        if let path = ProcessInfo.processInfo.environment["TIDELOG_CONFORMANCE"] { return URL(filePath: path) }
        return URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/conformance")
    }()

    /// Whether the corpora exist. If not, a message once per run states that the tests are skipped.
    static let isPresent: Bool = {
        let found = FileManager.default.fileExists(atPath: root.appending(path: "abnf/core.jsonl").path)
        if !found { print("skipped: the conformance corpora are not next to the checkout") }
        return found
    }()

    struct Row {
        let fields: [String: Any]

        subscript(name: String) -> String { fields[name] as? String ?? "" }
        var input: String { self["input"] }
        var isValid: Bool { fields["valid"] as? Bool ?? false }
        var isTyped: Bool { fields["typed"] as? Bool ?? false }
    }

    static func rows(_ path: String) throws -> [Row] {
        try lines(path).map { line in
            Row(fields: try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:])
        }
    }

    static func lines(_ path: String) throws -> [String] {
        try String(contentsOf: root.appending(path: path), encoding: .utf8).split(separator: "\n").map(String.init)
    }

    static func object(_ path: String) throws -> [String: [String]] {
        let content = try Data(contentsOf: root.appending(path: path))
        return try JSONSerialization.jsonObject(with: content) as? [String: [String]] ?? [:]
    }
}

/// Counts cases and prints the number of excluded cases with the reason, so that no case is lost silently.
struct CorpusReport {
    let name: String
    var passed = 0
    var failures: [String] = []
    private var excluded: [String: Int] = [:]

    init(_ name: String) { self.name = name }

    mutating func exclude(_ reason: String) { excluded[reason, default: 0] += 1 }

    mutating func record(_ row: QueryCorpus.Row, _ outcome: Result<some Any, some Error>) {
        switch (outcome, row.isValid) {
        case (.success, true), (.failure, false): passed += 1
        case (.failure(let error), true): failures.append("refused: \(row.input)  (\(error))")
        case (.success(let value), false): failures.append("accepted: \(row.input)  (\(value))")
        }
    }

    func print() {
        Swift.print("\(name): \(passed) passed, \(failures.count) failed, \(excluded.values.reduce(0, +)) excluded")
        for (reason, count) in excluded.sorted(by: { $0.key < $1.key }) {
            Swift.print("  excluded \(count): \(reason)")
        }
        for failure in failures { Swift.print("  \(failure)") }
    }
}
