import Foundation
import ProxyGenerator

/// The files of the checkout from which these tests were compiled.
enum Checkout {
    static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    static func swiftFiles(_ folder: String) throws -> [(name: String, text: String)] {
        let files = try FileManager.default.contentsOfDirectory(
            at: root.appending(path: folder), includingPropertiesForKeys: nil)
        return try files.filter { $0.pathExtension == "swift" }
            .map { ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8)) }
            .sorted { $0.0 < $1.0 }
    }

    /// Returns the sources of a folder and its subfolders, concatenated.
    static func text(of folder: String) throws -> String {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
        return try paths.filter { $0.hasSuffix(".swift") }.sorted()
            .map { try String(contentsOf: root.appending(path: folder).appending(path: $0), encoding: .utf8) }
            .joined()
    }
}

/// The metadata documents of the conformance corpora, next to the checkout or in the directory `TIDELOG_CONFORMANCE`.
enum CSDLCorpus {
    static let folder: URL =
        ProcessInfo.processInfo.environment["TIDELOG_CONFORMANCE"].map { URL(filePath: $0) }
        ?? Checkout.root.appending(path: "../shared/conformance").standardized

    /// A document with its facts from the index.
    struct Row: Sendable, CustomStringConvertible {
        let file: String
        let isInvalid: Bool
        let entityTypes: Int
        /// The number of types for which a declaration is generated.
        let types: Int

        var description: String { file }
    }

    static let rows: [Row] = {
        guard let index = try? String(contentsOf: folder.appending(path: "csdl/index.jsonl"), encoding: .utf8) else {
            print("skipped: the conformance corpora are not next to the checkout (\(folder.path))")
            return []
        }
        return index.split(separator: "\n").compactMap(row)
    }()

    private static func row(_ line: Substring) -> Row? {
        guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
            let file = object["file"] as? String
        else { return nil }
        let facts = object["facts"] as? [String: Any]
        func count(_ kind: String) -> Int { facts?[kind] as? Int ?? 0 }
        return Row(
            file: file, isInvalid: object["expect"] != nil || object["wellFormed"] as? Bool == false,
            entityTypes: count("entityTypes"),
            types: count("entityTypes") + count("complexTypes") + count("enumTypes") + count("typeDefinitions"))
    }

    static var isPresent: Bool { !rows.isEmpty }

    static func bytes(_ file: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appending(path: file)))
    }
}
