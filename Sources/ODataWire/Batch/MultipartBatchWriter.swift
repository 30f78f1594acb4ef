import ODataQuery

/// Writes `multipart/mixed` batches. The output is deterministic.
package struct MultipartBatchWriter: Sendable {
    /// The location of a member's Content-ID.
    package var contentIDLocation: ServiceOptions.ContentIDLocation
    /// Whether an operation's head contains the length of its body. If not, such a header is omitted.
    package var writesContentLength: Bool

    package init(contentIDLocation: ServiceOptions.ContentIDLocation = .part, writesContentLength: Bool = true) {
        self.contentIDLocation = contentIDLocation
        self.writesContentLength = writesContentLength
    }

    /// Returns the value of the batch's Content-Type header, with the boundary quoted if necessary.
    package static func contentType(boundary: String) -> String {
        let needsQuotes = boundary.utf8.contains { !MultipartScanner.isToken($0) }
        return "multipart/mixed; boundary=" + (needsQuotes ? "\"\(boundary)\"" : boundary)
    }

    /// Writes a batch request.
    ///
    /// - Parameter changeSetBoundary: Returns the boundary of each change set, counted from 0.
    package func write(
        _ batch: BatchRequest, boundary: String, changeSetBoundary: (Int) -> String
    ) throws(BatchWriteError) -> [UInt8] {
        var output = MultipartOutput(boundary: boundary)
        try output.check(boundary)
        var changeSets = 0
        for part in batch.parts {
            output.delimiter(boundary)
            switch part {
            case .query(let request):
                var request = request
                let contentID = request.headers["Content-ID"]
                request.headers["Content-ID"] = nil
                try write(request, contentID: contentID, to: &output)
            case .changeSet(let members):
                let inner = changeSetBoundary(changeSets)
                changeSets += 1
                try output.beginChangeSet(inner)
                var identifiers: Set<String> = []
                for member in members {
                    if members.count > 1, let id = member.contentID, !identifiers.insert(id).inserted {
                        throw .duplicateContentID(id)
                    }
                    output.delimiter(inner)
                    try write(member.request, contentID: member.contentID, to: &output)
                }
                output.closeDelimiter(inner)
            }
        }
        output.closeDelimiter(boundary)
        return try output.finish()
    }

    /// Writes a batch response, in the form that services use.
    package func write(
        _ batch: BatchResponse, boundary: String, changeSetBoundary: (Int) -> String
    ) throws(BatchWriteError) -> [UInt8] {
        var output = MultipartOutput(boundary: boundary)
        try output.check(boundary)
        var changeSets = 0
        for part in batch.parts {
            output.delimiter(boundary)
            switch part {
            case .single(let contentID, let response):
                try write(response, contentID: contentID, to: &output)
            case .changeSet(let members):
                let inner = changeSetBoundary(changeSets)
                changeSets += 1
                try output.beginChangeSet(inner)
                for member in members {
                    output.delimiter(inner)
                    try write(member.response, contentID: member.contentID, to: &output)
                }
                output.closeDelimiter(inner)
            }
        }
        if batch.isClosed { output.closeDelimiter(boundary) }
        return try output.finish()
    }

    private func write(
        _ request: WireRequest, contentID: String?, to output: inout MultipartOutput
    ) throws(BatchWriteError) {
        guard !request.method.isEmpty, request.method.utf8.allSatisfy(MultipartScanner.isToken) else {
            throw .invalidText("method")
        }
        let url = RequestTarget.inBatch(request.url)
        guard !url.isEmpty, url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { throw .invalidText("URL") }
        try beginPart(contentID, &output)
        output.line(request.method, " ", url, " HTTP/1.1")
        try write(request.headers, request.body, contentID: contentID, to: &output)
    }

    private func write(
        _ response: WireResponse, contentID: String?, to output: inout MultipartOutput
    ) throws(BatchWriteError) {
        guard (100...999).contains(response.status) else { throw .invalidText("status") }
        try beginPart(contentID, &output)
        output.line("HTTP/1.1 ", String(response.status), " ", ReasonPhrase.of(response.status))
        try write(response.headers, response.body, contentID: contentID, to: &output)
    }

    /// Writes the head of a part. The start line of its message follows.
    private func beginPart(_ contentID: String?, _ output: inout MultipartOutput) throws(BatchWriteError) {
        output.line("Content-Type: application/http\r\nContent-Transfer-Encoding: binary")
        if let contentID, contentIDLocation != .request { try output.field("Content-ID", contentID) }
        output.line("")
    }

    /// Writes a message without its start line.
    private func write(
        _ headers: HTTPHeaders, _ body: [UInt8], contentID: String?, to output: inout MultipartOutput
    ) throws(BatchWriteError) {
        if let contentID, contentIDLocation != .part { try output.field("Content-ID", contentID) }
        for field in headers.fields where !field.name.equalsIgnoringCase("Content-Length") {
            if Self.isForbidden(field.name) { throw .forbiddenHeader(field.name) }
            try output.field(field.name, field.value)
        }
        if writesContentLength, !body.isEmpty { output.line("Content-Length: ", String(body.count)) }
        output.line("")
        output.body(body)
    }

    /// Returns whether parts of a batch must not have a header of this name.
    static func isForbidden(_ header: String) -> Bool { forbidden.contains(where: header.equalsIgnoringCase) }

    private static let forbidden = ["Authorization", "Expect", "From", "Max-Forwards", "Range", "TE"]
}

extension WireRequest {
    /// The request without the headers that are not allowed in a part of a batch, because they concern the connection
    /// or the client (OData 4.01 Part 1, 11.7.2).
    package var asBatchPart: WireRequest {
        var part = self
        part.headers.removeAll(where: MultipartBatchWriter.isForbidden)
        return part
    }
}

/// The output, and the boundaries that must not occur in it twice.
private struct MultipartOutput {
    private var bytes: [UInt8] = []
    private var bodies: [Range<Int>] = []
    private var boundaries: [String] = []
    /// The boundaries as a set, for batches with many change sets.
    private var taken: Set<String> = []

    init(boundary: String) { bytes.reserveCapacity(4096) }

    mutating func check(_ boundary: String) throws(BatchWriteError) {
        let allowed = boundary.utf8.allSatisfy {
            switch $0 {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "'()+_,-./:=? ".utf8.contains($0)
            }
        }
        guard allowed, (1...70).contains(boundary.utf8.count), boundary.utf8.last != UInt8(ascii: " ") else {
            throw .invalidBoundary(boundary)
        }
        guard taken.insert(boundary).inserted else { throw .boundaryInUse(boundary) }
        boundaries.append(boundary)
    }

    mutating func beginChangeSet(_ boundary: String) throws(BatchWriteError) {
        try check(boundary)
        line("Content-Type: ", MultipartBatchWriter.contentType(boundary: boundary))
        line("")
    }

    mutating func line(_ first: String, _ second: String = "", _ third: String = "", _ fourth: String = "") {
        bytes.append(contentsOf: first.utf8)
        if !second.isEmpty { bytes.append(contentsOf: second.utf8) }
        if !third.isEmpty { bytes.append(contentsOf: third.utf8) }
        if !fourth.isEmpty { bytes.append(contentsOf: fourth.utf8) }
        bytes.append(0x0D)
        bytes.append(0x0A)
    }

    mutating func field(_ name: String, _ value: String) throws(BatchWriteError) {
        // Checked after they were appended, because the bytes of an array are read faster than those of a string.
        let start = bytes.count
        bytes.append(contentsOf: name.utf8)
        guard bytes.count > start, bytes[start...].allSatisfy(MultipartScanner.isToken) else {
            throw .invalidText("header")
        }
        let end = bytes.count
        line(": ", value)
        guard bytes[end..<bytes.count - 2].allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else {
            throw .invalidText("header")
        }
    }

    mutating func delimiter(_ boundary: String) { line("--", boundary) }

    mutating func closeDelimiter(_ boundary: String) { line("--", boundary, "--") }

    /// Appends a body. The line break after it belongs to the next delimiter.
    mutating func body(_ body: [UInt8]) {
        if !body.isEmpty { bodies.append(bytes.count..<bytes.count + body.count) }
        bytes.append(contentsOf: body)
        bytes.append(0x0D)
        bytes.append(0x0A)
    }

    /// Returns the output. Throws if a line of a body begins like a delimiter.
    consuming func finish() throws(BatchWriteError) -> [UInt8] {
        for range in bodies {
            var lineStart = range.lowerBound
            while lineStart < range.upperBound {
                if bytes[lineStart] == 0x2D {
                    let line = bytes[lineStart..<range.upperBound]
                    if let boundary = boundaries.first(where: { line.starts(with: "--\($0)".utf8) }) {
                        throw .boundaryInUse(boundary)
                    }
                }
                lineStart = (bytes[lineStart..<range.upperBound].firstIndex(of: 0x0A) ?? range.upperBound) + 1
            }
        }
        return bytes
    }
}

enum RequestTarget {
    /// Percent-encodes colons in the first segment of a relative URL.
    ///
    /// Otherwise they could be read as the end of a scheme (RFC 3986, section 4.2).
    static func inBatch(_ url: String) -> String {
        guard url.utf8.contains(UInt8(ascii: ":")) else { return url }
        let isAbsolute = ["http://", "https://"].contains { url.prefix($0.count).lowercased() == $0 }
        guard !isAbsolute, !url.hasPrefix("/") else { return url }
        let end = url.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? url.endIndex
        guard url[..<end].contains(":") else { return url }
        return url[..<end].split(separator: ":", omittingEmptySubsequences: false).joined(separator: "%3A")
            + url[end...]
    }
}

enum ReasonPhrase {
    /// Returns the reason phrase (RFC 9110, section 15), or an empty string for codes that OData services do not use.
    static func of(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 409: "Conflict"
        case 410: "Gone"
        case 412: "Precondition Failed"
        case 415: "Unsupported Media Type"
        case 424: "Failed Dependency"
        case 428: "Precondition Required"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        default: ""
        }
    }
}
