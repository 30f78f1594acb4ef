import ConformanceCorpora
import EDM
import ODataWire
import Testing

@Suite(.enabled(if: LiteralCorpus.isPresent, "skipped: the conformance corpora are not next to the checkout"))
struct `The JSON corpus` {
    struct Document: Sendable, CustomTestStringConvertible {
        let file: String
        let kind: String
        let version: ODataVersion
        let isWellFormed: Bool
        let facts: JSONValue

        var testDescription: String { file }

        init?(_ row: JSONValue) {
            guard let file = row["file"]?.string, let kind = row["kind"]?.string else { return nil }
            self.file = file
            self.kind = kind
            version = kind.hasPrefix("v2") ? .v2 : kind.hasPrefix("v3") ? .v3 : .v4
            isWellFormed = row["wellFormed"]?.flag ?? false
            facts = row["facts"] ?? .null
        }
    }

    static let documents =
        LiteralCorpus.isPresent
        ? ((try? LiteralCorpus.rows("json/index.jsonl")) ?? []).compactMap(Document.init) : []

    static func documents(_ kinds: String...) -> [Document] {
        documents.filter { document in document.isWellFormed && kinds.contains { document.kind.hasPrefix($0) } }
    }

    @Test func `well-formed documents are parsed, and malformed ones are rejected`() throws {
        #expect(!Self.documents.isEmpty)
        for document in Self.documents {
            let bytes = try LiteralCorpus.bytes(document.file)
            if document.isWellFormed {
                #expect(throws: Never.self, "\(document.file)") { try JSONValue.parse(bytes) }
            } else {
                #expect(throws: JSONError.self, "\(document.file)") { try JSONValue.parse(bytes) }
            }
        }
    }

    @Test func `a parsed document is written as equal JSON`() throws {
        for document in Self.documents where document.isWellFormed {
            let value = try JSONValue.parse(try LiteralCorpus.bytes(document.file))
            #expect(try JSONValue.parse(Array(value.text.utf8)) == value, "\(document.file)")
        }
    }

    @Test func `depth, counts and repeated names match the index`() throws {
        for document in Self.documents where document.isWellFormed {
            var counts = Counts()
            counts.count(try JSONValue.parse(try LiteralCorpus.bytes(document.file)), depth: 1)
            let repeated = document.facts["duplicateKeys"]?.array?.compactMap(\.string) ?? []
            #expect(counts.duplicates.sorted() == repeated.sorted(), "\(document.file)")
            // For a repeated member name, the index counts only the last member.
            guard repeated.isEmpty else { continue }
            for (name, count) in [
                ("maxDepth", counts.depth), ("objects", counts.objects), ("arrays", counts.arrays),
                ("strings", counts.strings), ("numbers", counts.numbers), ("booleans", counts.booleans),
                ("nulls", counts.nulls), ("deferred", counts.deferred), ("v2Metadata", counts.metadata),
                ("slashDate", counts.slashDates),
            ] {
                guard let expected = document.facts[name]?.integer else { continue }
                #expect(Int64(count) == expected, "\(document.file) \(name)")
            }
        }
    }

    @Test func `items, counts and links of pages match the index`() throws {
        for document in Self.documents("v2-collection", "v4-collection", "v4-delta", "v4-primitive-collection") {
            if document.kind == "v4-delta-update-request" { continue }
            // If a member name is repeated, the intended member is unknown.
            if document.facts["duplicateKeys"]?.array?.isEmpty == false {
                #expect(throws: PayloadError.self, "\(document.file)") { try readAll(document) }
                continue
            }
            var scanner = try FeedScanner(try LiteralCorpus.bytes(document.file), version: document.version)
            var items = 0
            var removed = 0
            while let item = try scanner.next() {
                items += 1
                if item["@removed"] != nil || item["@odata.removed"] != nil { removed += 1 }
            }
            let facts = document.facts
            #expect(Int64(items) == facts["items"]?.integer, "\(document.file)")
            #expect(Int64(removed) == facts["removedItems"]?.integer ?? 0, "\(document.file)")
            #expect(scanner.count == facts["inlineCount"]?.integer ?? facts["count"]?.integer, "\(document.file)")
            // The index ignores a next link without the prefix `@`. The reader accepts it, because it would otherwise
            // lose the following pages.
            let isUnprefixed = try JSONValue.parse(try LiteralCorpus.bytes(document.file))["odata.nextLink"] != nil
            let hasNext = isUnprefixed || facts["hasNext"]?.flag ?? (facts["nextLink"] != nil)
            #expect((scanner.nextLink != nil) == hasNext, "\(document.file)")
            if let nextLink = facts["nextLink"]?.string { #expect(scanner.nextLink == nextLink, "\(document.file)") }
            #expect(
                (scanner.deltaLink != nil) == (facts["hasDelta"]?.flag ?? (facts["deltaLink"] != nil)),
                "\(document.file)")
            if let deltaLink = facts["deltaLink"]?.string {
                #expect(scanner.deltaLink == deltaLink, "\(document.file)")
            }
            if let context = facts["context"]?.string { #expect(scanner.context == context, "\(document.file)") }
        }
    }

    private func readAll(_ document: Document) throws {
        var scanner = try FeedScanner(try LiteralCorpus.bytes(document.file), version: document.version)
        while try scanner.next() != nil {}
    }

    @Test func `codes and messages of errors match the index`() throws {
        for document in Self.documents("v2-error", "v4-error", "v3-light-error") {
            let error = ServiceErrorReader.read(try LiteralCorpus.bytes(document.file))
            guard let code = document.facts["errorCode"], let message = document.facts["errorMessage"] else { continue }
            let read = try #require(error, "\(document.file)")
            #expect(read.code == code.string ?? "", "\(document.file)")
            #expect(read.message == message.string ?? "", "\(document.file)")
            #expect(read.target == document.facts["target"]?.string, "\(document.file)")
        }
    }

    @Test func `a document that is not an error is not read as one`() throws {
        let broken = try LiteralCorpus.bytes("json/v2/errors/invalid-error-v2-olingo-invalid-json.json")
        #expect(ServiceErrorReader.read(broken) == nil)
        let missing = try LiteralCorpus.bytes("json/v2/errors/error-v2-olingo-missing-error.json")
        #expect(ServiceErrorReader.read(missing) == nil)
    }

    @Test func `service documents and references are read in every version`() throws {
        let any = EntityDataModel(
            version: .v4, schemas: [], structuredTypes: [], enumerationTypes: [], entitySets: [], singletons: [])
        for document in Self.documents("v2-service-document", "v4-service-document") {
            let read = try PayloadReader(version: document.version, model: any)
                .serviceDocument(try LiteralCorpus.bytes(document.file))
            #expect(!read.entries.isEmpty, "\(document.file)")
            if let items = document.facts["items"]?.integer { #expect(Int64(read.entries.count) == items) }
        }
        for document in Self.documents("v2-link", "v4-reference-collection") {
            let read = try PayloadReader(version: document.version, model: any)
                .entityReferences(try LiteralCorpus.bytes(document.file))
            #expect(Int64(read.urls.count) == document.facts["items"]?.integer ?? 1, "\(document.file)")
            #expect(read.count == document.facts["count"]?.integer, "\(document.file)")
        }
    }
}

/// The numbers that the index of the corpus states for a whole document.
private struct Counts {
    var depth = 0
    var objects = 0
    var arrays = 0
    var strings = 0
    var numbers = 0
    var booleans = 0
    var nulls = 0
    var deferred = 0
    var metadata = 0
    var slashDates = 0
    var duplicates: Set<String> = []

    mutating func count(_ value: JSONValue, depth: Int) {
        self.depth = max(self.depth, depth)
        switch value {
        case .null: nulls += 1
        case .boolean: booleans += 1
        case .number: numbers += 1
        case .string(let text):
            strings += 1
            if text.hasPrefix("/Date("), text.hasSuffix(")/") { slashDates += 1 }
        case .array(let items):
            arrays += 1
            for item in items { count(item, depth: depth + 1) }
        case .object(let object):
            objects += 1
            var seen: Set<String> = []
            for member in object.members {
                if !seen.insert(member.name).inserted { duplicates.insert(member.name) }
                if member.name == "__deferred" { deferred += 1 }
                if member.name == "__metadata" { metadata += 1 }
                count(member.value, depth: depth + 1)
            }
        }
    }
}
