package import Foundation

/// The query corpora in a directory next to the checkout, as rows of JSON Lines files.
package enum QueryCorpus {
    package static var root: URL { LiteralCorpus.root }

    /// Whether the corpora exist. If not, a message once per run states that the tests are skipped.
    package static let isPresent: Bool = {
        let found = FileManager.default.fileExists(atPath: root.appending(path: "abnf/core.jsonl").path)
        if !found { print("skipped: the conformance corpora are not next to the checkout") }
        return found
    }()

    package struct Row {
        package let fields: [String: Any]

        package subscript(name: String) -> String { fields[name] as? String ?? "" }
        package var input: String { self["input"] }
        package var isValid: Bool { fields["valid"] as? Bool ?? false }
        package var isTyped: Bool { fields["typed"] as? Bool ?? false }
    }

    package static func rows(_ path: String) throws -> [Row] {
        try lines(path).map { line in
            Row(fields: try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:])
        }
    }

    package static func lines(_ path: String) throws -> [String] {
        try String(contentsOf: root.appending(path: path), encoding: .utf8).split(separator: "\n").map(String.init)
    }

    package static func object(_ path: String) throws -> [String: [String]] {
        let content = try Data(contentsOf: root.appending(path: path))
        return try JSONSerialization.jsonObject(with: content) as? [String: [String]] ?? [:]
    }
}

/// Counts cases and prints the number of excluded cases with the reason, so that no case is lost silently.
package struct CorpusReport {
    package let name: String
    package var passed = 0
    package var failures: [String] = []
    private var excluded: [String: Int] = [:]

    package init(_ name: String) { self.name = name }

    package mutating func exclude(_ reason: String) { excluded[reason, default: 0] += 1 }

    package mutating func record(_ row: QueryCorpus.Row, _ outcome: Result<some Any, some Error>) {
        switch (outcome, row.isValid) {
        case (.success, true), (.failure, false): passed += 1
        case (.failure(let error), true): failures.append("refused: \(row.input)  (\(error))")
        case (.success(let value), false): failures.append("accepted: \(row.input)  (\(value))")
        }
    }

    package func print() {
        Swift.print("\(name): \(passed) passed, \(failures.count) failed, \(excluded.values.reduce(0, +)) excluded")
        for (reason, count) in excluded.sorted(by: { $0.key < $1.key }) {
            Swift.print("  excluded \(count): \(reason)")
        }
        for failure in failures { Swift.print("  \(failure)") }
    }
}
