import EDM
import Foundation

/// The metadata documents of the conformance corpora, next to the checkout or in the directory `TIDELOG_CONFORMANCE`.
enum CSDLCorpus {
    /// A document with its facts from the index.
    struct Row: Sendable, CustomStringConvertible {
        let file: String
        let version: String
        /// Whether the document must be refused.
        let isInvalid: Bool
        let facts: [String: Int]

        var description: String { file }
    }

    static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["TIDELOG_CONFORMANCE"] { return URL(filePath: path) }
        return URL(filePath: #filePath).appending(path: "../../../../../shared/conformance").standardized
    }()

    static let rows: [Row] = {
        guard let index = try? String(contentsOf: folder.appending(path: "csdl/index.jsonl"), encoding: .utf8) else {
            print("skipped: the conformance corpora are not next to the checkout (\(folder.path))")
            return []
        }
        return index.split(separator: "\n").compactMap(row)
    }()

    static var valid: [Row] { rows.filter { !$0.isInvalid } }
    static var invalid: [Row] { rows.filter(\.isInvalid) }
    static var isPresent: Bool { !rows.isEmpty }

    static func bytes(_ file: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: folder.appending(path: file))) }

    private static func row(_ line: Substring) -> Row? {
        guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
            let file = object["file"] as? String, let version = object["odataVersion"] as? String
        else { return nil }
        return Row(
            file: file, version: version, isInvalid: object["expect"] != nil || object["wellFormed"] as? Bool == false,
            facts: (object["facts"] as? [String: Any] ?? [:]).compactMapValues { $0 as? Int })
    }
}
