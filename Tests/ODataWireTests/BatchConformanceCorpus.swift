import Foundation
import Testing

/// The recorded batches of the conformance data in a directory next to the checkout. The tests are skipped without it.
enum BatchCorpus {
    static let root: URL = {
        if let path = ProcessInfo.processInfo.environment["TIDELOG_CONFORMANCE"] { return URL(fileURLWithPath: path) }
        return URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/conformance")
    }()

    static let isPresent: Bool = {
        let isPresent = FileManager.default.fileExists(atPath: root.appending(path: "batch/index.jsonl").path)
        if !isPresent { print("skipped: the batch recordings are not next to the checkout") }
        return isPresent
    }()

    struct Recording: Decodable, CustomTestStringConvertible {
        var file: String
        var kind: String
        var facts: Facts

        var testDescription: String { file }
        var bytes: [UInt8] {
            get throws { try Array(Data(contentsOf: root.appending(path: file))) }
        }
    }

    struct Facts: Decodable {
        var boundary: String?
        var parts: Int?
        var preamble: Int?
        var epilogue: Int?
        var closed: Bool?
        var changesets: Int?
        var changesetSizes: [Int]?
        var unclosedChangesets: Int?
        var operations: Int?
        var methods: [String: Int]?
        var statuses: [Int]?
        var contentIdReferences: Int?
        var otherParts: [String]?
        var ops: [Operation]?
    }

    struct Operation: Decodable {
        var method: String?
        var url: String?
        var status: Int?
        var contentId: String?
        var changeset: Int?
        var bodyBytes: Int
        var json: Bool?
    }

    struct ParserCase: Decodable, CustomTestStringConvertible {
        var name: String
        var direction: String
        var contentType: String
        var strictParser: Bool
        var olingoAccepts: Bool
        var body: String

        var testDescription: String { name }
    }

    /// A response in the JSON batch format.
    struct JSONResponse: Decodable, CustomTestStringConvertible {
        struct Facts: Decodable {
            var statuses: [Int]
            var ids: [Int]
        }

        var file: String
        var facts: Facts

        var testDescription: String { file }
    }

    static let jsonResponses = lines("batch/index.jsonl", as: JSONResponse.self, kind: "\"json-batch-response\"")

    static let recordings: [Recording] = lines("batch/index.jsonl", as: Recording.self)
        .filter { $0.kind.hasPrefix("multipart-batch") }
    static let parserCases: [ParserCase] = lines("batch/olingo-parser-cases.jsonl", as: ParserCase.self)

    private static func lines<T: Decodable>(
        _ path: String, as type: T.Type, kind: String = "\"multipart-batch"
    ) -> [T] {
        guard isPresent, let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8) else {
            return []
        }
        return text.split(separator: "\n").compactMap { line in
            // Files of other kinds have facts of a different structure.
            guard type == ParserCase.self || line.contains(kind) else { return nil }
            do { return try JSONDecoder().decode(T.self, from: Data(line.utf8)) } catch {
                fatalError("\(path): \(error)")
            }
        }
    }
}
