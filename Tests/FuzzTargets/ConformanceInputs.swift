import EDM

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

extension FuzzTarget {
    /// Returns the inputs that the conformance corpora contain for the target: documents, messages and texts of other
    /// implementations, valid or not.
    ///
    /// - Parameter folder: The folder of the corpora. Files that cannot be read, and large ones, are omitted.
    public func conformanceInputs(in folder: String) -> [[UInt8]] {
        let corpora = ConformanceFolder(path: folder)
        switch self {
        case .json: return corpora.documents("json", "csdl-json").map(\.bytes)
        case .payloads: return corpora.documents("json").map { [$0.version, 7] + $0.bytes }
        case .metadata:
            return corpora.documents("csdl").map(\.bytes) + corpora.documents("json", "csdl-json").map(\.bytes)
        case .batchRequests: return corpora.batches("request")
        case .batchResponses: return corpora.batches("response")
        case .urls: return corpora.urls
        case .literals: return corpora.literals
        case .blocks, .encryptedBlocks, .records, .recovery, .snapshot, .headers, .queryFiles, .storeDescriptions:
            return []
        }
    }
}

/// The conformance corpora, each with an index of its files (JSON Lines).
private struct ConformanceFolder {
    let path: String

    struct Document {
        let kind: String
        /// The byte with which the targets select the version: 0 for V4, 1 for V2.
        let version: UInt8
        let bytes: [UInt8]
        /// The boundary of a multipart document.
        let boundary: String?
    }

    /// The size from which a document would slow the fuzzer down more than it helps.
    private static let largest = 1 << 16

    /// Returns the documents of a corpus.
    ///
    /// - Parameter kind: The kind of the documents; nil for all.
    func documents(_ corpus: String, _ kind: String? = nil) -> [Document] {
        rows("\(corpus)/index.jsonl").compactMap { row in
            guard let file = row["file"]?.string, kind == nil || row["kind"]?.string == kind, let bytes = read(file)
            else { return nil }
            return Document(
                kind: row["kind"]?.string ?? "", version: Self.version(row), bytes: bytes,
                boundary: row["facts"]?.object?["boundary"]?.string)
        }
    }

    /// Returns the batches in one direction, `request` or `response`, in the form that the targets expect: with the
    /// format in the first byte, and the boundary `b`.
    func batches(_ direction: String) -> [[UInt8]] {
        let recorded = (documents("batch") + documents("json", "json-batch-\(direction)")).compactMap {
            document -> [UInt8]? in
            guard document.kind.hasSuffix("batch-\(direction)") else { return nil }
            return document.kind.hasPrefix("json")
                ? [1] + document.bytes : Self.batch(document.bytes, document.boundary)
        }
        let cases = rows("batch/olingo-parser-cases.jsonl").compactMap { row -> [UInt8]? in
            guard row["direction"]?.string == direction, let body = row["body"]?.string else { return nil }
            let boundary = row["contentType"]?.string?.split(separator: "boundary=").last.map(String.init)
            return Self.batch(Array(body.utf8), boundary)
        }
        return recorded + cases
    }

    private static func batch(_ bytes: [UInt8], _ boundary: String?) -> [UInt8] {
        guard let boundary, !boundary.isEmpty else { return [0] + bytes }
        return [0] + bytes.replacing(Array("--\(boundary)".utf8), with: Array("--b".utf8))
    }

    /// URLs, and query options as URLs.
    var urls: [[UInt8]] {
        let names = ["abnf/core", "abnf/aggregation", "abnf/temporal", "abnf/legacy"]
        let inputs = (names + ["literals/v2-urls", "literals/v2-filter-orderby", "literals/v4-search"]).flatMap {
            name in
            rows("\(name).jsonl").compactMap { row -> [UInt8]? in
                guard let input = row["input"]?.string else { return nil }
                let prefix =
                    row["rule"]?.string.flatMap { Self.prefixesOfRules[$0] }
                    ?? row["kind"]?.string.flatMap { Self.prefixesOfKinds[$0] } ?? ""
                return [Self.version(row)] + Array(prefix.utf8) + Array(input.utf8)
            }
        }
        let lines = (read("literals/northwind-urls.txt") ?? []).split(separator: 0x0A).map { line in
            [0] + line.trimmingPrefix("http://mockservice/Northwind/Northwind.svc/".utf8)
        }
        return inputs + lines
    }

    /// The beginning of a URL for the part of one that a rule of the grammar describes.
    private static let prefixesOfRules = [
        "queryOptions": "Customers?", "filter": "Customers?", "select": "Customers?", "expand": "Customers?",
        "orderby": "Customers?", "search": "Customers?", "commonExpr": "Customers?$filter=",
        "boolCommonExpr": "Customers?$filter=", "firstMemberExpr": "Customers?$filter=",
    ]

    /// The same for a kind of expression.
    private static let prefixesOfKinds = [
        "filter": "Customers?$filter=", "orderby": "Customers?$orderby=", "search": "Customers?$search=",
    ]

    /// Literals, with the type, the version and the context in the first three bytes.
    var literals: [[UInt8]] {
        ["literals/v2-primitive-literals", "literals/v4-primitive-literals"].flatMap { name in
            rows("\(name).jsonl").flatMap { row -> [[UInt8]] in
                guard let literal = row["literal"]?.string,
                    let type = row["type"]?.string.flatMap(PrimitiveType.init(rawValue:)),
                    let number = PrimitiveType.allCases.firstIndex(of: type)
                else { return [] }
                return (0..<3).map { [UInt8(number), Self.version(row), $0] + Array(literal.utf8) }
            }
        }
    }

    // MARK: Files

    private static func version(_ row: JSONObject) -> UInt8 {
        let version = row["odataVersion"]?.string ?? ""
        return version.hasPrefix("1") || version.hasPrefix("2") ? 1 : 0
    }

    /// Returns the rows of a JSON Lines file.
    private func rows(_ file: String) -> [JSONObject] {
        (read(file, atMost: 1 << 24) ?? []).split(separator: 0x0A).compactMap {
            (try? JSONValue.parse(Array($0)))?.object
        }
    }

    private func read(_ name: String, atMost limit: Int = Self.largest) -> [UInt8]? {
        guard let file = fopen("\(path)/\(name)", "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
            bytes += buffer[..<count]
            if bytes.count > limit { return nil }
        }
        return bytes
    }
}
