/// Reads `multipart/mixed` batches: requests for a service, responses for a client.
///
/// A tolerant reader accepts deviations that occur in practice: bare LF, a byte order mark, a preamble, a wrong or
/// missing boundary parameter, a missing close delimiter, a wrong Content-Length, a Content-ID in either head, a
/// missing HTTP version. It never guesses the intended operation: an unreadable start line is an error. A strict reader
/// rejects each of these except bare LF, a byte order mark and a wrong Content-Length.
package struct MultipartBatchReader: Sendable {
    package enum Strictness: Sendable { case tolerant, strict }

    /// Limits that prevent a batch from exhausting the stack. Memory is bounded by the size of the body.
    package struct Limits: Sendable {
        /// The maximum number of parts of the batch, and of each change set.
        package var parts = 10_000
        package var headBytes = 128 * 1024
        package var headerFields = 500

        package init() {}
    }

    package var strictness: Strictness
    package var limits: Limits

    package init(strictness: Strictness = .tolerant, limits: Limits = Limits()) {
        self.strictness = strictness
        self.limits = limits
    }

    /// Reads a batch request.
    ///
    /// - Parameter contentType: The value of the batch's own Content-Type header.
    package func readRequest(_ bytes: [UInt8], contentType: String) throws(BatchReadError) -> BatchRequest {
        try readRequest(try document(bytes, contentType: contentType))
    }

    /// Reads the parts of a batch request.
    package func readRequest(_ document: MultipartDocument) throws(BatchReadError) -> BatchRequest {
        var parts: [BatchPart] = []
        for part in document.parts {
            switch part.content {
            case .operation(let range):
                let (contentID, request) = try request(document, part, range)
                var single = request
                if let contentID { single.headers["Content-ID"] = contentID }
                parts.append(.query(single))
            case .changeSet(let members, _):
                var changeSet: [BatchPart.Member] = []
                for member in members {
                    guard case .operation(let range) = member.content else { continue }
                    let (contentID, request) = try request(document, member, range)
                    if strictness == .strict, request.method == "GET" || request.method == "HEAD" {
                        throw BatchReadError(
                            .queryInChangeSet, "A change set contains \(request.method), which is not a modification.",
                            at: range.lowerBound)
                    }
                    changeSet.append(BatchPart.Member(contentID: contentID, request: request))
                }
                parts.append(.changeSet(changeSet))
            }
        }
        return BatchRequest(parts: parts)
    }

    /// Reads a batch response. If it is truncated, the tolerant reader returns the parts before the end.
    package func readResponse(_ bytes: [UInt8], contentType: String) throws(BatchReadError) -> BatchResponse {
        try readResponse(try document(bytes, contentType: contentType, dropsCutPart: strictness == .tolerant))
    }

    /// Reads the parts of a batch response. Part by part, they are those of the document, except a part that is cut off.
    package func readResponse(_ document: MultipartDocument) throws(BatchReadError) -> BatchResponse {
        var parts: [BatchResponsePart] = []
        for (index, part) in document.parts.enumerated() {
            let mayBeCut = strictness == .tolerant && !document.isClosed && index == document.parts.count - 1
            switch part.content {
            case .operation(let range):
                do throws(BatchReadError) {
                    let (contentID, response) = try response(document, part, range)
                    parts.append(.single(contentID: contentID, response))
                } catch { if !mayBeCut { throw error } }
            case .changeSet(let members, _):
                var changeSet: [BatchResponsePart.MemberResponse] = []
                for (position, member) in members.enumerated() {
                    guard case .operation(let range) = member.content else { continue }
                    do throws(BatchReadError) {
                        let (contentID, response) = try response(document, member, range)
                        changeSet.append(.init(contentID: contentID, response: response))
                    } catch { if !mayBeCut || position < members.count - 1 { throw error } }
                }
                parts.append(.changeSet(changeSet))
            }
        }
        return BatchResponse(parts: parts, isClosed: document.isClosed)
    }
}

extension MultipartBatchReader {
    private var isStrict: Bool { strictness == .strict }

    private func request(
        _ document: MultipartDocument, _ part: MultipartDocument.BodyPart, _ range: Range<Int>
    ) throws(BatchReadError) -> (contentID: String?, WireRequest) {
        let (lineRange, headStart) = try startLine(document, range)
        let line = document.scanner.text(lineRange)
        guard let space = line.firstIndex(of: " "), line[..<space].utf8.allSatisfy(MultipartScanner.isToken) else {
            throw BatchReadError(
                .startLine, "The request line “\(excerpt(line))” is malformed.", at: lineRange.lowerBound)
        }
        let method = String(line[..<space])
        var url = line[space...].drop { $0 == " " }
        if let last = url.lastIndex(of: " "), isHTTPVersion(url[url.index(after: last)...]) {
            url = url[..<last]
            while url.last == " " { url.removeLast() }
        } else if isStrict {
            throw BatchReadError(
                .startLine, "The request line “\(excerpt(line))” names no HTTP version.", at: lineRange.lowerBound)
        }
        guard !url.isEmpty, !method.isEmpty else {
            throw BatchReadError(
                .startLine, "The request line “\(excerpt(line))” is malformed.", at: lineRange.lowerBound)
        }
        let isQuery = method == "GET" || method == "HEAD"
        var (headers, body) = try operation(document, headStart..<range.upperBound, isBodiless: isQuery)
        if isStrict, isQuery, !body.isEmpty {
            throw BatchReadError(.unexpectedBody, "A \(method) request has a body.", at: headStart)
        }
        let contentID = takeContentID(part, &headers)
        return (contentID, WireRequest(method: method, url: String(url), headers: headers, body: body))
    }

    private func response(
        _ document: MultipartDocument, _ part: MultipartDocument.BodyPart, _ range: Range<Int>
    ) throws(BatchReadError) -> (contentID: String?, WireResponse) {
        let (lineRange, headStart) = try startLine(document, range)
        let line = document.scanner.text(lineRange)
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, isHTTPVersion(words[0]), words[1].utf8.count == 3, let status = Int(words[1]),
            (100...999).contains(status)
        else {
            throw BatchReadError(
                .startLine, "The status line “\(excerpt(line))” is malformed.", at: lineRange.lowerBound)
        }
        let isBodiless = status == 204 || status == 304
        var (headers, body) = try operation(document, headStart..<range.upperBound, isBodiless: isBodiless)
        let contentID = takeContentID(part, &headers)
        return (contentID, WireResponse(status: status, headers: headers, body: body))
    }

    private func startLine(
        _ document: MultipartDocument, _ range: Range<Int>
    ) throws(BatchReadError) -> (line: Range<Int>, next: Int) {
        var position = range.lowerBound
        while position < range.upperBound {
            let line = document.scanner.line(at: position, limit: range.upperBound)
            if !document.scanner.isBlank(position..<line.end) { return (position..<line.end, line.next) }
            if isStrict {
                throw BatchReadError(.startLine, "A blank line precedes the start line.", at: position)
            }
            position = line.next
        }
        throw BatchReadError(.startLine, "A part contains neither a request nor a response.", at: range.lowerBound)
    }

    /// Reads the headers and the body of one request or response. `range` begins after its start line.
    private func operation(
        _ document: MultipartDocument, _ range: Range<Int>, isBodiless: Bool
    ) throws(BatchReadError) -> (HTTPHeaders, [UInt8]) {
        let head = try document.scanner.head(range)
        if head.ending == .malformedLine {
            if isStrict { throw BatchReadError(.header, "A header line is malformed.", at: head.end) }
            // The blank line after the head is missing: the rest is the body, if a body is possible.
            if isBodiless { return (head.headers, []) }
        }
        var body = head.end..<range.upperBound
        if isBodiless, document.scanner.isBlank(body) { return (head.headers, []) }
        // The delimiters determine the body. The length only determines whether trailing line breaks belong to it.
        if let text = head.headers["Content-Length"], let length = Int(text), length >= 0, length < body.count,
            document.scanner.isBlank(body.lowerBound + length..<body.upperBound)
        {
            body = body.lowerBound..<body.lowerBound + length
        }
        return (head.headers, Array(document.scanner.bytes[body]))
    }

    /// Returns the Content-ID. The part's own takes precedence over the one in the operation's head.
    private func takeContentID(_ part: MultipartDocument.BodyPart, _ headers: inout HTTPHeaders) -> String? {
        let contentID = part.headers["Content-ID"] ?? headers["Content-ID"]
        headers["Content-ID"] = nil
        return contentID
    }

    private func isHTTPVersion(_ text: Substring) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count >= 6, bytes[..<5].elementsEqual("HTTP/".utf8) else { return false }
        return bytes[5...].allSatisfy { $0 == UInt8(ascii: ".") || ($0 >= 0x30 && $0 <= 0x39) }
    }

    private func excerpt(_ line: String) -> String { line.count > 80 ? line.prefix(80) + "…" : line }
}
