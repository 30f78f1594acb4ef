package import EDM
import ODataQuery

/// Reads responses to batches in the JSON format of OData 4.01 (JSON Format, section 19.5).
///
/// The reader is tolerant: identifiers and header values may be numbers, header names may have any case, and a body
/// that does not match its Content-Type is kept unchanged.
package struct JSONBatchReader: Sendable {
    package var limits: JSONScanner.Limits

    package init(limits: JSONScanner.Limits = JSONScanner.Limits()) { self.limits = limits }

    package func readResponse(_ bytes: [UInt8]) throws(BatchReadError) -> JSONBatchResponse {
        do throws(JSONError) {
            var scanner = try JSONScanner(bytes, limits: limits)
            var response = JSONBatchResponse(responses: [])
            var hasResponses = false
            scanner.checksNames = true
            var names = MemberNames()
            try scanner.beginObject()
            while let name = try scanner.nextName(&names) {
                switch name {
                case "error" where try scanner.peek() == .object:
                    let words = PayloadError.inStream(try scanner.value()).message
                    throw JSONError(.wrongKind, words, at: scanner.offset)
                case "responses":
                    hasResponses = true
                    try scanner.beginArray()
                    while try scanner.nextItem() { response.responses.append(try self.response(&scanner)) }
                case "@nextLink", "@odata.nextLink":
                    response.nextLink = try scanner.value().string ?? ""
                default: try scanner.skip()
                }
            }
            try scanner.end()
            guard hasResponses else { throw JSONError(.wrongKind, "The response has no member “responses”.", at: 0) }
            return response
        } catch {
            throw BatchReadError(error.code == .tooLarge ? .tooLarge : .json, error.message, at: error.offset)
        }
    }

    private func response(_ scanner: inout JSONScanner) throws(JSONError) -> JSONBatchResponse.Response {
        let start = scanner.offset
        var id: String?
        var group: String?
        var status: Int?
        var headers = HTTPHeaders.empty
        var body: Range<Int>?
        var names = MemberNames()
        try scanner.beginObject()
        while let name = try scanner.nextName(&names) {
            switch name {
            case "id": id = text(try scanner.value())
            case "atomicityGroup": group = text(try scanner.value())
            case "status": status = try scanner.value().integer.flatMap { Int(exactly: $0) }
            case "headers": headers = try self.headers(&scanner)
            case "body":
                // Invalid content in the body of one response must not affect the other responses.
                scanner.checksNames = false
                body = try scanner.skip()
                scanner.checksNames = true
            default: try scanner.skip()
            }
        }
        guard let id, let status, (100...999).contains(status) else {
            throw JSONError(.wrongKind, "A response has no id or no status.", at: start)
        }
        let content = try body.map { range throws(JSONError) in try self.body(scanner.bytes[range], headers) } ?? []
        return .init(
            id: id, atomicityGroup: group, response: WireResponse(status: status, headers: headers, body: content))
    }

    private func headers(_ scanner: inout JSONScanner) throws(JSONError) -> HTTPHeaders {
        var headers = HTTPHeaders.empty
        guard let object = try scanner.value().object else { return headers }
        for member in object.members {
            if let value = text(member.value) { headers.add(name: member.name, value: value) }
        }
        return headers
    }

    /// Returns the body. JSON is kept byte by byte, so that its numbers stay exact.
    private func body(_ json: ArraySlice<UInt8>, _ headers: HTTPHeaders) throws(JSONError) -> [UInt8] {
        if json.elementsEqual("null".utf8) { return [] }
        let kind = JSONBatchBody(contentType: headers["Content-Type"])
        if case .json = kind { return Array(json) }
        guard case .string(let text) = try JSONValue.parse(Array(json), limits: limits) else { return Array(json) }
        if case .binary = kind, let bytes = Base64.decode(Array(text.utf8)) { return bytes }
        return Array(text.utf8)
    }

    private func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text), .number(let text): text
        default: nil
        }
    }
}
