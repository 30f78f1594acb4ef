import HTTPTypes
import Transport

/// Tells of each request and its answer, for finding out why app and service do not understand each other.
///
/// Without ``withData`` a line holds method, URL without query, status and sizes. With it, headers and bodies follow: what
/// people entered, readable by whoever reads the log. Of headers only those of the protocol are told with their value: any
/// other may carry a credential under a name that only the app knows. So it is with the headers inside of a batch's body;
/// bodies are told as they are otherwise.
public struct RequestTrace: Sendable {
    /// Whether headers and bodies are told as well.
    public var withData: Bool
    /// Whether JSON is broken into lines and indented. Its text stays the same otherwise.
    public var isPretty: Bool
    /// Takes one message, which may have several lines. Called from the session, so that it should not wait.
    public var write: @Sendable (String) -> Void

    /// Of a longer body only the beginning is told. In bytes.
    static let bodyLimit = 1 << 16

    public init(withData: Bool = false, isPretty: Bool = false, write: @escaping @Sendable (String) -> Void) {
        self.withData = withData
        self.isPretty = isPretty
        self.write = write
    }

    func request(_ message: HTTPRequest, url: String, body: [UInt8]) {
        let size = body.isEmpty ? "" : ", \(body.count) bytes"
        write("\(message.method) \(shown(url))\(size)" + details(message.headerFields, body, body.count))
    }

    /// - Parameter count: how many bytes there were, where `body` is only their beginning.
    func response(_ message: HTTPResponse, to method: String, url: String, body: [UInt8], count: Int? = nil) {
        let count = count ?? body.count
        write(
            "\(method) \(shown(url)) was answered with \(message.status.code), \(count) bytes"
                + details(message.headerFields, body, count))
    }

    func failure(_ error: TransportError, of method: String, url: String) {
        write("\(method) \(shown(url)) failed: \(error.message)")
    }

    /// Query options hold what people searched for.
    private func shown(_ url: String) -> String { withData ? url : URLText.withoutSecrets(url) }

    private func details(_ fields: HTTPFields, _ body: [UInt8], _ count: Int) -> String {
        guard withData else { return "" }
        var lines = fields.map {
            "\($0.name.rawName): \(Self.harmless.contains($0.name.canonicalName) ? $0.value : "…")"
        }
        if !body.isEmpty { lines += ["", text(body, count, fields[.contentType] ?? "")] }
        return lines.map { "\n" + $0 }.joined()
    }

    /// Headers whose values say something of the message and nothing of who sent it.
    static let harmless: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "allow", "cache-control", "content-encoding",
        "content-id", "content-language", "content-length", "content-type", "dataserviceid", "dataserviceversion",
        "date",
        "etag", "if-match", "if-none-match", "last-modified", "location", "maxdataserviceversion", "odata-entityid",
        "odata-maxversion", "odata-version", "prefer", "preference-applied", "retry-after", "transfer-encoding", "vary",
        "x-http-method",
    ]

    /// Text that is cut off is so at any byte: its last character may not be whole.
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

    /// Only white space between tokens changes; what is no JSON is not harmed.
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
