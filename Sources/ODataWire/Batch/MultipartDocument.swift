import ODataQuery

/// The structure of a multipart batch, before its parts are read as requests or responses.
package struct MultipartDocument: Sendable {
    let scanner: MultipartScanner
    /// The bytes to which all ranges refer.
    package var bytes: [UInt8] { scanner.bytes }
    /// The boundary that the delimiters use, which may differ from the Content-Type.
    package let boundary: String
    package let preamble: Range<Int>
    package let epilogue: Range<Int>
    package let isClosed: Bool
    package let parts: [BodyPart]

    package struct BodyPart: Sendable {
        /// The lines before the content, with the blank line.
        package let head: Range<Int>
        package let headers: HTTPHeaders
        package let content: BodyPartContent
    }

    package indirect enum BodyPartContent: Sendable {
        /// An HTTP message, given by its range.
        case operation(Range<Int>)
        case changeSet([BodyPart], isClosed: Bool)
    }
}

extension MultipartBatchReader {
    /// Reads the structure of a batch.
    ///
    /// - Parameter dropsCutPart: Whether to omit the last part of a batch without close delimiter if its head is
    ///   unreadable.
    package func document(
        _ bytes: [UInt8], contentType: String, dropsCutPart: Bool = false
    ) throws(BatchReadError) -> MultipartDocument {
        let mediaType = MultipartMediaType(contentType)
        if strictness == .strict, mediaType.type != "multipart/mixed" || mediaType.boundary == nil {
            throw BatchReadError(.contentType, "The Content-Type is not multipart/mixed with a boundary.", at: 0)
        }
        let scanner = MultipartScanner(bytes: bytes, limits: limits)
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        guard let (boundary, parts) = try split(scanner, start..<bytes.count, boundary: mediaType.boundary) else {
            throw BatchReadError(.noDelimiter, "The body contains no part of a batch.", at: start)
        }
        if strictness == .strict, !parts.isClosed {
            throw BatchReadError(.notClosed, "The batch has no close delimiter.", at: bytes.count)
        }
        var read: [MultipartDocument.BodyPart] = []
        for (index, range) in parts.parts.enumerated() {
            let mayBeCut = dropsCutPart && !parts.isClosed && index == parts.parts.count - 1
            do throws(BatchReadError) {
                read.append(try part(scanner, range, insideChangeSet: false, dropsCutPart: mayBeCut))
            } catch { if !mayBeCut || error.code == .tooLarge { throw error } }
        }
        return MultipartDocument(
            scanner: scanner, boundary: String(decoding: boundary, as: UTF8.self), preamble: parts.preamble,
            epilogue: parts.epilogue, isClosed: parts.isClosed, parts: read)
    }

    /// Splits the range with the declared boundary or, for the tolerant reader, with that of the first delimiter.
    private func split(
        _ scanner: MultipartScanner, _ range: Range<Int>, boundary: String?
    ) throws(BatchReadError) -> (boundary: [UInt8], MultipartScanner.Parts)? {
        let declared = boundary.map { Array($0.utf8) }
        var parts: MultipartScanner.Parts?
        if let declared { parts = try scanner.split(range, boundary: declared) }
        if let declared, let parts, !parts.parts.isEmpty { return (declared, parts) }
        guard strictness == .tolerant else { return nil }
        if let first = scanner.firstBoundary(in: range), first != declared,
            let found = try scanner.split(range, boundary: first)
        {
            return (first, found)
        }
        // Delimiters with the declared boundary and nothing between them: an empty batch or change set.
        guard let declared, let parts else { return nil }
        return (declared, parts)
    }

    private func part(
        _ scanner: MultipartScanner, _ range: Range<Int>, insideChangeSet: Bool, dropsCutPart: Bool
    ) throws(BatchReadError) -> MultipartDocument.BodyPart {
        let head = try scanner.head(range)
        let lines = range.lowerBound..<head.end
        let content = head.end..<range.upperBound
        if strictness == .strict, head.ending == .malformedLine {
            throw BatchReadError(.partHead, "A header line of a part is malformed.", at: head.end)
        }
        guard let contentType = head.headers["Content-Type"] else {
            // A response is recognizable without a Content-Type.
            if strictness == .tolerant, scanner.bytes[content].starts(with: "HTTP/".utf8) {
                return MultipartDocument.BodyPart(head: lines, headers: head.headers, content: .operation(content))
            }
            throw BatchReadError(.partHead, "A part has no Content-Type.", at: range.lowerBound)
        }
        let mediaType = MultipartMediaType(contentType)
        if mediaType.type == MultipartMediaType.http {
            if strictness == .strict,
                head.headers["Content-Transfer-Encoding"].map({ $0.equalsIgnoringCase("binary") }) != true
            {
                throw BatchReadError(
                    .partHead, "The Content-Transfer-Encoding of a part is not binary.", at: range.lowerBound)
            }
            return MultipartDocument.BodyPart(head: lines, headers: head.headers, content: .operation(content))
        }
        guard mediaType.isMultipart else {
            throw BatchReadError(
                .partHead, "A part is neither an HTTP message nor a change set.", at: range.lowerBound)
        }
        if insideChangeSet {
            throw BatchReadError(.nesting, "A change set contains another multipart.", at: range.lowerBound)
        }
        let members = try changeSet(scanner, content, mediaType, dropsCutPart: dropsCutPart)
        return MultipartDocument.BodyPart(head: lines, headers: head.headers, content: members)
    }

    private func changeSet(
        _ scanner: MultipartScanner, _ range: Range<Int>, _ mediaType: MultipartMediaType, dropsCutPart: Bool
    ) throws(BatchReadError) -> MultipartDocument.BodyPartContent {
        if strictness == .strict, mediaType.type != "multipart/mixed" || mediaType.boundary == nil {
            throw BatchReadError(.partHead, "A change set names no boundary.", at: range.lowerBound)
        }
        guard let (_, parts) = try split(scanner, range, boundary: mediaType.boundary) else {
            if strictness == .tolerant { return .changeSet([], isClosed: false) }
            throw BatchReadError(.noDelimiter, "A change set contains no part.", at: range.lowerBound)
        }
        if strictness == .strict, !parts.isClosed {
            throw BatchReadError(.notClosed, "A change set has no close delimiter.", at: range.upperBound)
        }
        var members: [MultipartDocument.BodyPart] = []
        for (index, member) in parts.parts.enumerated() {
            let mayBeCut = dropsCutPart && !parts.isClosed && index == parts.parts.count - 1
            do throws(BatchReadError) {
                members.append(try part(scanner, member, insideChangeSet: true, dropsCutPart: false))
            } catch { if !mayBeCut || error.code == .tooLarge { throw error } }
        }
        return .changeSet(members, isClosed: parts.isClosed)
    }
}
