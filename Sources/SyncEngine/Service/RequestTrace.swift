import HTTPTypes
import OfflineStore
import Transport

/// A trace of each request and its response, for debugging the communication with a service.
///
/// Without ``withData`` a line contains method, URL without query, status and sizes. With it, headers and bodies
/// follow, which expose the user's data to all readers of the trace. Only protocol headers are shown with their values,
/// because any other header may contain credentials under a name that only the app knows. This also applies to the
/// headers inside a batch's body; the rest of a body is shown unchanged.
package struct RequestTrace: Sendable {
    /// A Boolean value that indicates whether headers and bodies are included.
    package var withData: Bool
    /// A Boolean value that indicates whether JSON is broken into lines and indented. Its text is otherwise unchanged.
    package var isPretty: Bool
    /// A function that writes one message, possibly of several lines. The session calls it, so it must not block.
    package var write: @Sendable (String) -> Void

    /// The number of bytes after which a body is truncated.
    static let bodyLimit = 1 << 16

    package init(withData: Bool = false, isPretty: Bool = false, write: @escaping @Sendable (String) -> Void) {
        self.withData = withData
        self.isPretty = isPretty
        self.write = write
    }

    /// Writes a request.
    ///
    /// - Parameter count: The number of sent bytes if they are those of a file and not of `body`.
    func request(_ message: HTTPRequest, url: String, body: [UInt8], count: Int? = nil) {
        let count = count ?? body.count
        let size = count == 0 ? "" : ", \(count) bytes"
        write("\(message.method) \(shown(url))\(size)" + details(message.headerFields, body, count))
    }

    /// Writes a response.
    ///
    /// - Parameter count: The number of received bytes if `body` contains only their beginning.
    func response(_ message: HTTPResponse, to method: String, url: String, body: [UInt8], count: Int? = nil) {
        let count = count ?? body.count
        write(
            "\(method) \(shown(url)) returned \(message.status.code), \(count) bytes"
                + details(message.headerFields, body, count))
    }

    func failure(_ error: TransportError, of method: String, url: String) {
        write("\(method) \(shown(url)) failed: \(error.message)")
    }

    /// Returns the URL as shown in the trace. Query options contain search terms of the user.
    private func shown(_ url: String) -> String { withData ? url : URLText.withoutSecrets(url) }

    private func details(_ fields: HTTPFields, _ body: [UInt8], _ count: Int) -> String {
        guard withData else { return "" }
        var lines = fields.map {
            "\($0.name.rawName): \(Self.harmless.contains($0.name.canonicalName) ? $0.value : "…")"
        }
        if !body.isEmpty { lines += ["", text(body, count, fields[.contentType] ?? "")] }
        return lines.map { "\n" + $0 }.joined()
    }

    /// Headers whose values describe the message and do not identify the sender.
    static let harmless: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "allow", "cache-control", "content-encoding",
        "content-id", "content-language", "content-length", "content-type", "dataserviceid", "dataserviceversion",
        "date",
        "etag", "if-match", "if-none-match", "last-modified", "location", "maxdataserviceversion", "odata-entityid",
        "odata-maxversion", "odata-version", "prefer", "preference-applied", "retry-after", "transfer-encoding", "vary",
        "x-http-method",
    ]

    /// Returns a body as text. Truncation happens at any byte, so the last character may be incomplete.
    private func text(_ body: [UInt8], _ count: Int, _ contentType: String) -> String {
        let length = min(Self.bodyLimit, body.count)
        let isWhole = length == count
        let endings = 0...(isWhole ? 0 : min(3, length))
        let texts = endings.lazy.compactMap { String(validating: body.prefix(length - $0), as: UTF8.self) }
        guard let text = texts.first else { return "(no text)" }
        guard isWhole else { return BatchRedaction.redacted(text, contentType: contentType) + "… (\(count) bytes)" }
        let isJSON = contentType.lowercased().hasPrefix("application/json")
        let shown = BatchRedaction.redacted(text, contentType: contentType)
        return isPretty && isJSON ? Self.indented(shown) : shown
    }

    /// Indents JSON. Only white space between tokens changes; text that is not JSON stays readable.
    static func indented(_ json: String) -> String {
        var result = ""
        var depth = 0
        var isInString = false
        var isEscaped = false
        func breakLine() { result += "\n" + String(repeating: "  ", count: max(0, depth)) }
        for character in json {
            if isInString {
                result.append(character)
                if isEscaped {
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else if character == "\"" {
                    isInString = false
                }
                continue
            }
            switch character {
            case "\"":
                isInString = true
                result.append(character)
            case "{", "[":
                result.append(character)
                depth += 1
                breakLine()
            case "}", "]":
                depth -= 1
                breakLine()
                result.append(character)
            case ",":
                result.append(character)
                breakLine()
            case ":": result += ": "
            case " ", "\n", "\r", "\t", "\r\n": break
            default: result.append(character)
            }
        }
        return result
    }
}
