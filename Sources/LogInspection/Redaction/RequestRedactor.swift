import EDM
import ODataQuery
import Operations

/// Redacts the headers and bodies of requests.
struct RequestRedactor {
    let redaction: Redaction
    let urls: URLRedactor

    /// Redacts a request body: JSON with replaced values, or a placeholder.
    func body(_ text: String) -> String {
        guard !text.isEmpty else { return text }
        guard let json = try? JSONValue.parse(Array(text.utf8)) else { return redaction.opaque(text, "body") }
        return self.json(json, "", isOfOData: false).text
    }

    func body(_ bytes: [UInt8]) -> [UInt8] { Array(body(String(decoding: bytes, as: UTF8.self)).utf8) }

    /// Redacts a JSON value.
    ///
    /// - Parameter isOfOData: Whether the members belong to OData itself, as in `__metadata`, and are no properties.
    private func json(_ value: JSONValue, _ name: String, isOfOData: Bool) -> JSONValue {
        switch value {
        case .null, .boolean: return value
        case .number(let text):
            guard let number = DecimalValue(text) else { return .number("0") }
            return .number(PrimitiveLiteral.format(redaction.scalar(.decimal(number)), version: .v4, form: .json))
        case .string(let text): return .string(member(text, name, isOfOData: isOfOData))
        case .array(let items): return .array(items.map { json($0, name, isOfOData: isOfOData) })
        case .object(let object):
            // A V2 link contains only its URI.
            let isOfOData = name == "__metadata" || object.members.count == 1 && object.members[0].name == "uri"
            return .object(
                JSONObject(
                    object.members.map { member in
                        JSONObject.Member(
                            name: self.memberName(member.name),
                            value: json(member.value, member.name, isOfOData: isOfOData))
                    }))
        }
    }

    private func memberName(_ name: String) -> String {
        name.split(separator: "@", omittingEmptySubsequences: false).map { part in
            let words = part.split(separator: ".", omittingEmptySubsequences: false)
            return words.allSatisfy { $0.isEmpty || redaction.vocabulary.contains($0) }
                ? String(part) : "x\(redaction.number(of: String(part), "word"))"
        }.joined(separator: "@")
    }

    private func member(_ text: String, _ name: String, isOfOData: Bool) -> String {
        if name.contains("@") || name == "__next" || isOfOData {
            if name == "type" { return redaction.name(text) }
            return name.lowercased().hasSuffix("etag") ? redaction.etag(text) ?? "" : urls.url(text)
        }
        // A member of an enumeration, or a value that was collected with its entity.
        if redaction.isCollecting { return text }
        if redaction.isKnown(text) || text.isEmpty { return redaction.string(text) }
        if redaction.vocabulary.contains(text) { return text }
        return redaction.literal(text) ?? slashDate(text) ?? redaction.opaque(text)
    }

    /// Redacts a date such as `/Date(1417042800000)/`.
    private func slashDate(_ text: String) -> String? {
        guard text.hasPrefix("/Date("), text.hasSuffix(")/"),
            let milliseconds = Int64(text.dropFirst(6).dropLast(2).prefix { $0 == "-" || $0.isNumber }),
            let time = LocalDateTime(millisecondsSince1970: milliseconds),
            case .dateTime(let replaced) = redaction.scalar(.dateTime(time))
        else { return nil }
        return "/Date(\(replaced.millisecondsSince1970))/"
    }

    func header(_ header: Operation.Header) -> Operation.Header {
        let name = header.name.lowercased()
        switch name {
        case "if-match", "if-none-match":
            return Operation.Header(name: header.name, value: redaction.etag(header.value) ?? "")
        case _ where Self.plainHeaders.contains(name):
            let value =
                Self.plainValues.contains(header.value.lowercased()) ? header.value : redaction.opaque(header.value)
            return Operation.Header(name: header.name, value: value)
        default:
            return Operation.Header(
                name: Self.knownHeaders.contains(name) ? header.name : redaction.opaque(header.name, "X-Header"),
                value: redaction.opaque(header.value))
        }
    }

    private static let plainHeaders: Set<String> = [
        "content-type", "accept", "odata-version", "odata-maxversion", "dataserviceversion", "maxdataserviceversion",
        "prefer", "content-length", "x-http-method",
    ]
    private static let knownHeaders: Set<String> = [
        "repeatability-request-id", "repeatability-first-sent", "repeatability-client-id", "slug", "accept-language",
        "requestid", "repeatabilitycreation",
    ]
    private static let plainValues: Set<String> = [
        "application/json", "application/json;odata.metadata=minimal", "application/json;odata=verbose",
        "application/atom+xml", "application/xml", "application/atom+xml,application/xml", "4.0", "4.01",
        "2.0", "3.0", "1.0", "return=minimal", "return=representation", "respond-async", "merge", "patch", "put",
    ]

    /// Redacts a media type to a form such as `image/x-3`, which keeps the top-level type.
    func mediaType(_ type: String) -> String {
        let sort = type.prefix { $0 != "/" }.lowercased()
        let known = ["image", "text", "audio", "video", "application"].contains(sort) ? sort : "application"
        return "\(known)/x-\(redaction.number(of: type, "media"))"
    }
}
