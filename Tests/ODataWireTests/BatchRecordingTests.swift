import Foundation
import Testing

@testable import ODataWire

/// Batches recorded from other services and clients, compared with the facts in their index.
@Suite(.enabled(if: BatchCorpus.isPresent, "skipped: the conformance corpora are not next to the checkout"))
struct BatchRecordingTests {
    let reader = MultipartBatchReader()

    /// A content type without the parameter `boundary`. The reader uses the first delimiter line, like the parser that
    /// wrote the index.
    let contentType = "multipart/mixed"

    @Test(arguments: BatchCorpus.recordings.filter { $0.facts.otherParts == nil })
    func `the structure of a recording matches its index`(_ recording: BatchCorpus.Recording) throws {
        let bytes = try recording.bytes
        let document = try reader.document(bytes, contentType: contentType)
        let facts = recording.facts
        #expect(document.boundary == facts.boundary)
        #expect(document.parts.count == facts.parts)
        let preamble = String(decoding: bytes[document.preamble], as: UTF8.self)
        #expect(preamble.trimmingCharacters(in: .whitespacesAndNewlines).utf8.count == facts.preamble)
        #expect(document.isClosed == facts.closed)
        let epilogue = String(decoding: bytes[document.epilogue], as: UTF8.self)
        #expect(epilogue.trimmingCharacters(in: .whitespacesAndNewlines).utf8.count == facts.epilogue)
        let changeSets = document.parts.compactMap { part -> (size: Int, isClosed: Bool)? in
            guard case .changeSet(let members, let isClosed) = part.content else { return nil }
            return (members.count, isClosed)
        }
        #expect(changeSets.map(\.size) == facts.changesetSizes ?? [])
        #expect(changeSets.count { !$0.isClosed } == facts.unclosedChangesets ?? 0)
    }

    @Test(arguments: BatchCorpus.recordings.filter { $0.kind == "multipart-batch-request" })
    func `the requests of a recording match its index`(_ recording: BatchCorpus.Recording) throws {
        let batch = try reader.readRequest(recording.bytes, contentType: contentType)
        var found: [(request: WireRequest, contentID: String?, changeSet: Int?)] = []
        var changeSets = 0
        for part in batch.parts {
            switch part {
            case .query(let request): found.append((request, request.headers["Content-ID"], nil))
            case .changeSet(let members):
                found += members.map { ($0.request, $0.contentID, changeSets) }
                changeSets += 1
            }
        }
        let facts = recording.facts
        #expect(found.count == facts.operations)
        #expect(changeSets == facts.changesets)
        #expect(Dictionary(found.map { ($0.request.method, 1) }, uniquingKeysWith: +) == facts.methods)
        // The parser of the index leaves the HTTP version in a URL if blanks follow it. The reader removes the version.
        #expect(
            found.map(\.request.url)
                == facts.ops?.map { ($0.url ?? "").replacingOccurrences(of: " HTTP/1.1 ", with: "") })
        #expect(found.map(\.contentID) == facts.ops?.map(\.contentId))
        #expect(found.map(\.changeSet) == facts.ops?.map(\.changeset))
        for (operation, expected) in zip(found, facts.ops ?? []) {
            try expectBody(operation.request.body, operation.request.headers, expected)
        }
    }

    @Test(arguments: BatchCorpus.recordings.filter { $0.kind == "multipart-batch-response" })
    func `the responses of a recording match its index`(_ recording: BatchCorpus.Recording) throws {
        let batch = try reader.readResponse(recording.bytes, contentType: contentType)
        var found: [(response: WireResponse, contentID: String?)] = []
        for part in batch.parts {
            switch part {
            case .single(let contentID, let response): found.append((response, contentID))
            case .changeSet(let members): found += members.map { ($0.response, $0.contentID) }
            }
        }
        let facts = recording.facts
        #expect(batch.isClosed == facts.closed)
        #expect(found.map(\.response.status) == facts.statuses)
        #expect(found.map(\.contentID) == facts.ops?.map(\.contentId))
        for (operation, expected) in zip(found, facts.ops ?? []) {
            try expectBody(operation.response.body, operation.response.headers, expected)
        }
    }

    @Test(arguments: BatchCorpus.recordings.filter { $0.kind == "multipart-batch-unknown" })
    func `a part without a known content type is rejected`(_ recording: BatchCorpus.Recording) throws {
        let bytes = try recording.bytes
        let error = #expect(throws: BatchReadError.self) { try reader.readRequest(bytes, contentType: contentType) }
        #expect(error?.code == .partHead)
    }

    /// Recordings with a duplicate Content-ID in a change set. The writer rejects them.
    static let duplicates: Set = ["batch/v4/olingo/batchLarge.batch", "batch/v4/ui5/mockserver-4-request.batch"]

    @Test(
        arguments: BatchCorpus.recordings.filter {
            $0.kind == "multipart-batch-request" && !duplicates.contains($0.file)
        })
    func `a recording has the same parts after writing and reading`(_ recording: BatchCorpus.Recording) throws {
        let batch = try reader.readRequest(recording.bytes, contentType: contentType)
        let written = try MultipartBatchWriter().write(batch, boundary: "b") { "c\($0)" }
        let again = try MultipartBatchReader(strictness: .tolerant).readRequest(
            written, contentType: MultipartBatchWriter.contentType(boundary: "b"))
        #expect(again.parts.map(withoutLength) == batch.parts.map(withoutLength))
    }

    /// The index counts the line break before the delimiter, and also a line break that the Content-Length excludes
    /// from the body.
    private func expectBody(_ body: [UInt8], _ headers: HTTPHeaders, _ expected: BatchCorpus.Operation) throws {
        #expect((0...4).contains(expected.bodyBytes - body.count), "\(body.count) of \(expected.bodyBytes)")
        if expected.json == true {
            _ = try JSONSerialization.jsonObject(with: Data(body), options: .fragmentsAllowed)
        }
    }

    private func withoutLength(_ part: BatchPart) -> BatchPart {
        func without(_ request: WireRequest) -> WireRequest {
            var request = request
            request.headers["Content-Length"] = nil
            return request
        }
        return switch part {
        case .query(let request): .query(without(request))
        case .changeSet(let members):
            .changeSet(members.map { .init(contentID: $0.contentID, request: without($0.request)) })
        }
    }
}

@Suite(.enabled(if: BatchCorpus.isPresent, "skipped: the conformance corpora are not next to the checkout"))
struct BatchParserCaseTests {
    /// Cases that Olingo's strict parser rejects because it compares URLs with its own service root. The reader has no
    /// service root.
    static let needsServiceRoot: Set = ["testInvalidUri", "uriWithWrongAbsolutePath", "wrongHost"]

    @Test(arguments: BatchCorpus.parserCases.filter { !needsServiceRoot.contains($0.name) })
    func `the reader accepts exactly the cases that Olingo accepts`(_ parserCase: BatchCorpus.ParserCase) {
        let reader = MultipartBatchReader(strictness: parserCase.strictParser ? .strict : .tolerant)
        let bytes = Array(parserCase.body.utf8)
        var failure: BatchReadError?
        do throws(BatchReadError) {
            if parserCase.direction == "request" {
                _ = try reader.readRequest(bytes, contentType: parserCase.contentType)
            } else {
                _ = try reader.readResponse(bytes, contentType: parserCase.contentType)
            }
        } catch { failure = error }
        #expect((failure == nil) == parserCase.olingoAccepts, "\(failure.map(String.init) ?? "accepted")")
    }

    @Test(arguments: BatchCorpus.parserCases.filter { $0.olingoAccepts })
    func `the tolerant reader accepts each case that Olingo accepts`(_ parserCase: BatchCorpus.ParserCase) throws {
        let reader = MultipartBatchReader()
        let bytes = Array(parserCase.body.utf8)
        if parserCase.direction == "request" {
            _ = try reader.readRequest(bytes, contentType: parserCase.contentType)
        } else {
            _ = try reader.readResponse(bytes, contentType: parserCase.contentType)
        }
    }
}
