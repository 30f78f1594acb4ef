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
        write("\(message.method) \(shown(url))\(size)" + details(message.headerFields, body))
    }

    func response(_ message: HTTPResponse, to method: String, url: String, body: [UInt8]) {
        write(
            "\(method) \(shown(url)) was answered with \(message.status.code), \(body.count) bytes"
                + details(message.headerFields, body))
    }

    func failure(_ error: TransportError, of method: String, url: String) {
        write("\(method) \(shown(url)) failed: \(error.message)")
    }

    /// Query options hold what people searched for.
    private func shown(_ url: String) -> String { withData ? url : URLText.withoutSecrets(url) }

    private func details(_ fields: HTTPFields, _ body: [UInt8]) -> String {
        guard withData else { return "" }
        var lines = fields.map {
            "\($0.name.rawName): \(Self.harmless.contains($0.name.canonicalName) ? $0.value : "…")"
        }
        if !body.isEmpty { lines += ["", text(body, fields[.contentType] ?? "")] }
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

    private func text(_ body: [UInt8], _ contentType: String) -> String {
        guard let text = String(validating: body, as: UTF8.self) else { return "(no text)" }
        let isJSON = contentType.lowercased().hasPrefix("application/json")
        guard body.count <= Self.bodyLimit else {
            let start = String(decoding: body.prefix(Self.bodyLimit), as: UTF8.self)
            return BatchRedaction.redacted(start, contentType: contentType) + "… (\(body.count) bytes)"
        }
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
