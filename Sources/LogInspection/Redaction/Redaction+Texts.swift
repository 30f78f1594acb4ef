import EDM
import ODataWire
import Operations

extension Redaction {
    // MARK: URLs

    /// Redacts a URL. Literals are replaced; names of the model and of OData are kept.
    func url(_ text: String) -> String {
        guard !text.isEmpty else { return text }
        for root in roots where text.hasPrefix(root) { return Self.root + tokens(String(text.dropFirst(root.count))) }
        if let scheme = text.firstRange(of: "://"), Self.isScheme(text[..<scheme.lowerBound]) {
            let rest = text[scheme.upperBound...]
            let path = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
            return Self.root + tokens(String(rest[path...].drop { $0 == "/" }))
        }
        return tokens(text, isWhole: true)
    }

    func url(_ text: String?) -> String? { text.map { url($0) } }

    /// Returns whether the text is a URL scheme. A literal may contain `://` too.
    private static func isScheme(_ text: Substring) -> Bool {
        let isLetter = { (byte: UInt8) in (0x61...0x7A).contains(byte | 0x20) }
        return text.utf8.first.map(isLetter) == true
            && text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }
    }

    /// Redacts a URL without its root.
    ///
    /// - Parameter isWhole: Whether the text is complete, so that it may begin with a Content-ID.
    private func tokens(_ text: String, isWhole: Bool = false) -> String {
        var scan = URLScan(Self.decoded(text))
        var result = isWhole ? Self.contentID(&scan) : ""
        var set: String?
        var literal: PrimitiveType?
        while let next = scan.next {
            switch next {
            case "'": result += quoted(&scan, literal)
            case "$", "@": result += option(&scan)
            case "(" where set != nil:
                result += "("
                scan.skip()
                result += entity(&scan)
            case " ":
                scan.skip()
                result += "%20"
            case _ where scan.isWord || scan.isSignedNumber:
                let word = word(&scan)
                literal = URLScan.literals[word]
                set = vocabulary.isSet(word) ? word : nil
                result += word
                continue
            case _ where URLScan.marks.contains(next):
                scan.skip()
                result.unicodeScalars.append(next)
            default: scan.skip()
            }
            literal = nil
            set = nil
        }
        return result
    }

    /// Reads a leading Content-ID such as `$1` if it is as small as those of the engine. Empty if there is none.
    private static func contentID(_ scan: inout URLScan) -> String {
        var ahead = scan
        guard ahead.next == "$" else { return "" }
        ahead.skip()
        let digits = ahead.consume { ("0"..."9").contains($0) }
        guard !digits.isEmpty, digits.utf8.count < 7, ahead.next == nil || ahead.next == "/" else { return "" }
        scan = ahead
        return "$" + digits
    }

    /// Reads an ID such as `~3` before a parenthesis, if a record contains the entity. Empty otherwise.
    private func entity(_ scan: inout URLScan) -> String {
        var ahead = scan
        guard ahead.next == "~" else { return "" }
        ahead.skip()
        guard let number = UInt64(ahead.consume { ("0"..."9").contains($0) }), ahead.next == ")",
            places[EntityID(rawValue: number)] != nil
        else { return "" }
        scan = ahead
        return "~\(number)"
    }

    /// Redacts a quoted literal such as `'O''Neil'`, or the content of `guid'…'`.
    private func quoted(_ scan: inout URLScan, _ type: PrimitiveType?) -> String {
        scan.skip()
        var content = ""
        while let next = scan.next {
            scan.skip()
            if next == "'" {
                guard scan.next == "'" else { break }
                scan.skip()
            }
            content.unicodeScalars.append(next)
        }
        guard let type else { return "'" + string(content) + "'" }
        guard let value = try? PrimitiveLiteral.parse(content, as: type, version: .v2, form: .text) else {
            return "'" + opaque(content) + "'"
        }
        return "'" + PrimitiveLiteral.format(scalar(value), version: .v2, form: .text) + "'"
    }

    /// Redacts an option such as `$filter` or `@p1`. The value of an unknown option is replaced. Digits are a value.
    private func option(_ scan: inout URLScan) -> String {
        let mark = scan.next == "$" ? "$" : "@"
        scan.skip()
        if let next = scan.next, ("0"..."9").contains(next) { return mark }
        let name = scan.consume { $0.properties.isAlphabetic || $0 == "_" || ("0"..."9").contains($0) }
        if vocabulary.contains(name) || Vocabulary.options.contains(name) {
            guard name != "search" || scan.next != "=" else { return "$search=" + rest(&scan) }
            return mark + name
        }
        let known = ["skiptoken", "deltatoken", "id"].contains(name) ? name : "p\(number(of: name, "option"))"
        guard scan.next == "=" else { return mark + known }
        return mark + known + "=" + rest(&scan)
    }

    private func rest(_ scan: inout URLScan) -> String {
        if scan.next == "=" { scan.skip() }
        return opaque(scan.consume { $0 != "&" && $0 != ")" && $0 != ";" }, "token")
    }

    /// Redacts a name, number, GUID or date.
    private func word(_ scan: inout URLScan) -> String {
        let start = scan
        let run = scan.consume { URLScan.isWord($0) || $0 == "-" || $0 == ":" || $0 == "." || $0 == "+" }
        if let replaced = plain(run) { return replaced }
        scan = start
        let name = scan.consume { URLScan.isWord($0) || $0 == "." }
        if name.isEmpty {
            scan.skip()
            return "-"
        }
        if vocabulary.contains(name) { return name }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        if parts.allSatisfy({ vocabulary.contains($0) }) { return name }
        return plain(name) ?? "x\(number(of: name, "word"))"
    }

    /// Returns the replacement for an unquoted literal, or nil if the text is none.
    func plain(_ text: String) -> String? {
        func format(_ value: Value) -> String { PrimitiveLiteral.format(scalar(value), version: .v4, form: .text) }
        if let guid = GuidValue(text) { return self.guid(guid).description }
        if let time = GlobalDateTime(text) { return format(.dateTimeOffset(time)) }
        if let time = LocalDateTime(text) { return format(.dateTime(time)) }
        if let date = LocalDate(text) { return format(.date(date)) }
        if text.contains(":"), let time = LocalTime(text) { return format(.timeOfDay(time)) }
        if let duration = DayTimeDuration(text) { return format(.duration(duration)) }
        let digits = text.last.map { "MmLlFfDd".contains($0) } == true ? String(text.dropLast()) : text
        guard digits.utf8.first.map({ (0x30...0x39).contains($0) || $0 == 0x2D }) == true,
            let number = DecimalValue(digits)
        else { return nil }
        return format(.decimal(number)) + text.dropFirst(digits.count)
    }

    private static func decoded(_ text: String) -> String {
        guard text.contains("%") else { return text }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), rest.count >= 2,
                let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Bodies and headers

    /// Redacts a request body: JSON with replaced values, or a placeholder.
    func body(_ text: String) -> String {
        guard !text.isEmpty else { return text }
        guard let json = try? JSONValue.parse(Array(text.utf8)) else { return opaque(text, "body") }
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
            return .number(PrimitiveLiteral.format(scalar(.decimal(number)), version: .v4, form: .json))
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
            return words.allSatisfy { $0.isEmpty || vocabulary.contains($0) }
                ? String(part) : "x\(number(of: String(part), "word"))"
        }.joined(separator: "@")
    }

    private func member(_ text: String, _ name: String, isOfOData: Bool) -> String {
        if name.contains("@") || name == "__next" || isOfOData {
            if name == "type" { return self.name(text) }
            return name.lowercased().hasSuffix("etag") ? etag(text) ?? "" : url(text)
        }
        // A member of an enumeration, or a value that was collected with its entity.
        if isCollecting || isKnown(text) || text.isEmpty { return string(text, collects: false) }
        if vocabulary.contains(text) { return text }
        return plain(text) ?? slashDate(text) ?? opaque(text)
    }

    /// Redacts a string without collecting it.
    private func string(_ text: String, collects: Bool) -> String {
        isCollecting && !collects ? text : string(text)
    }

    /// Redacts a date such as `/Date(1417042800000)/`.
    private func slashDate(_ text: String) -> String? {
        guard text.hasPrefix("/Date("), text.hasSuffix(")/"),
            let milliseconds = Int64(text.dropFirst(6).dropLast(2).prefix { $0 == "-" || $0.isNumber }),
            let time = LocalDateTime(millisecondsSince1970: milliseconds),
            case .dateTime(let replaced) = scalar(.dateTime(time))
        else { return nil }
        return "/Date(\(replaced.millisecondsSince1970))/"
    }

    func header(_ header: Operation.Header) -> Operation.Header {
        let name = header.name.lowercased()
        switch name {
        case "if-match", "if-none-match":
            return Operation.Header(name: header.name, value: etag(header.value) ?? "")
        case _ where Self.plainHeaders.contains(name):
            let value = Self.plainValues.contains(header.value.lowercased()) ? header.value : opaque(header.value)
            return Operation.Header(name: header.name, value: value)
        default:
            return Operation.Header(
                name: Self.knownHeaders.contains(name) ? header.name : opaque(header.name, "X-Header"),
                value: opaque(header.value))
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
        return "\(known)/x-\(number(of: type, "media"))"
    }
}

/// A cursor in a URL.
struct URLScan {
    private var rest: Substring.UnicodeScalarView

    init(_ text: String) { rest = Substring(text).unicodeScalars }

    var next: Unicode.Scalar? { rest.first }

    mutating func skip() { rest = rest.dropFirst() }

    mutating func consume(while fits: (Unicode.Scalar) -> Bool) -> String {
        var taken = String.UnicodeScalarView()
        while let next, fits(next) {
            taken.append(next)
            skip()
        }
        return String(taken)
    }

    var isWord: Bool { next.map(Self.isWord) ?? false }

    var isSignedNumber: Bool {
        guard next == "-" else { return false }
        return rest.dropFirst().first.map { ("0"..."9").contains($0) } ?? false
    }

    static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    }

    /// The structural characters of a URL.
    static let marks: Set<Unicode.Scalar> = [
        "(", ")", ",", "=", "/", "?", "&", ":", ";", "+", "*", "-", ".", "!", "#", "[", "]",
    ]

    /// The prefixes of quoted literals that are not strings.
    static let literals: [String: PrimitiveType] = [
        "guid": .guid, "datetime": .dateTime, "datetimeoffset": .dateTimeOffset, "time": .time, "duration": .duration,
        "binary": .binary, "X": .binary,
    ]
}
