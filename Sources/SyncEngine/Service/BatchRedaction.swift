/// Redacts the header values in a batch's body, except those that do not identify the sender.
///
/// Text that is not a batch, and the bodies inside a batch, do not change. Redaction never fails: in text that only
/// resembles a batch, some values are lost.
enum BatchRedaction {
    static func redacted(_ body: String, contentType: String) -> String {
        let type = contentType.lowercased()
        if type.hasPrefix("multipart/") { return multipart(body, contentType) }
        return type.hasPrefix("application/json") ? json(body) : body
    }

    private static func isHarmless(_ name: some StringProtocol) -> Bool {
        let name = name.lowercased()
        return RequestTrace.harmless.contains(name) || name == "content-transfer-encoding"
    }

    // MARK: Multipart

    private enum MessageSection {
        case outside
        case headers
        /// After the blank line that ends headers. An embedded request has headers of its own.
        case afterHeaders
        case body
    }

    private static func multipart(_ text: String, _ contentType: String) -> String {
        var delimiters = [boundary(contentType)].compactMap { $0 }
        var place = MessageSection.outside
        var lines: [Substring] = []
        // In Swift a carriage return and its line feed are one character.
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" }) {
            if delimiters.contains(where: { line.hasPrefix($0) }) {
                place = .headers
                lines.append(line)
                continue
            }
            switch place {
            case .headers where line.isEmpty: place = .afterHeaders
            case .headers:
                if let inner = boundary(String(line)) { delimiters.append(inner) }
                lines.append(header(line))
                continue
            case .afterHeaders where line.hasPrefix("HTTP/1.") || line.contains(" HTTP/1."): place = .headers
            case .afterHeaders where !line.isEmpty: place = .body
            case .outside, .afterHeaders, .body: break
            }
            lines.append(line)
        }
        return lines.joined(separator: "\n")
    }

    /// Redacts a header line. A line without a name continues the previous one.
    private static func header(_ line: Substring) -> Substring {
        guard let colon = line.firstIndex(of: ":"), line.first?.isWhitespace == false else { return "…" }
        return isHarmless(line[..<colon]) ? line : line[...colon] + " …"
    }

    private static func boundary(_ field: String) -> String? {
        guard let start = field.lowercased().firstRange(of: "boundary=")?.upperBound else { return nil }
        let offset = field.lowercased().distance(from: field.lowercased().startIndex, to: start)
        let value = field.dropFirst(offset).prefix { $0 != ";" && !$0.isWhitespace }
        let name = value.filter { $0 != "\"" }
        return name.isEmpty ? nil : "--" + name
    }

    // MARK: JSON

    /// A JSON container: whether it is an object, and the member name under which it is stored.
    private struct Container {
        var isObject: Bool
        var name: String?
        /// The member name of the next value.
        var member: String?
        var isAtValue = false
    }

    /// Redacts the values in the `headers` objects of `requests` and `responses`.
    private static func json(_ text: String) -> String {
        var result: [UInt8] = []
        var stack: [Container] = []
        var bytes = Array(text.utf8)[...]
        while let byte = bytes.first {
            switch byte {
            case UInt8(ascii: "\""):
                let token = string(&bytes)
                result += stringToken(token, &stack)
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                stack.append(Container(isObject: byte == UInt8(ascii: "{"), name: stack.last?.member))
            case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = stack.popLast()
            case UInt8(ascii: ":"): if !stack.isEmpty { stack[stack.count - 1].isAtValue = true }
            case UInt8(ascii: ","): if !stack.isEmpty { stack[stack.count - 1].isAtValue = false }
            default: break
            }
            result.append(byte)
            bytes = bytes.dropFirst()
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func stringToken(_ token: [UInt8], _ stack: inout [Container]) -> [UInt8] {
        guard let last = stack.last, last.isObject else { return token }
        guard last.isAtValue else {
            stack[stack.count - 1].member = String(decoding: token.dropFirst().dropLast(), as: UTF8.self)
            return token
        }
        // { "requests": [ { "headers": {
        let isInHeaders =
            stack.count == 4 && last.name == "headers" && ["requests", "responses"].contains(stack[1].name)
        return isInHeaders && !isHarmless(last.member ?? "") ? Array("\"…\"".utf8) : token
    }

    /// Removes and returns the string at the beginning, including its quotation marks.
    private static func string(_ bytes: inout ArraySlice<UInt8>) -> [UInt8] {
        var token = [bytes.removeFirst()]
        while let byte = bytes.popFirst() {
            token.append(byte)
            if byte == UInt8(ascii: "\\"), let escaped = bytes.popFirst() {
                token.append(escaped)
            } else if byte == UInt8(ascii: "\"") {
                break
            }
        }
        return token
    }
}
