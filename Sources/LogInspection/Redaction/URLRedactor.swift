import EDM
import ODataQuery
import Operations

/// Redacts URLs: literals are replaced, and names of the model and of OData are kept.
struct URLRedactor {
    let redaction: Redaction

    /// Redacts a URL. Literals are replaced; names of the model and of OData are kept.
    func url(_ text: String) -> String {
        guard !text.isEmpty else { return text }
        for root in redaction.roots where text.hasPrefix(root) {
            return Redaction.root + tokens(String(text.dropFirst(root.count)))
        }
        if let scheme = text.firstRange(of: "://"), Self.isScheme(text[..<scheme.lowerBound]) {
            let rest = text[scheme.upperBound...]
            let path = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
            return Redaction.root + tokens(String(rest[path...].drop { $0 == "/" }))
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
                set = redaction.vocabulary.isSet(word) ? word : nil
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
            redaction.places[EntityID(rawValue: number)] != nil
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
        guard let type else { return "'" + redaction.string(content) + "'" }
        guard let value = try? PrimitiveLiteral.parse(content, as: type, version: .v2, form: .text) else {
            return "'" + redaction.opaque(content) + "'"
        }
        return "'" + PrimitiveLiteral.format(redaction.scalar(value), version: .v2, form: .text) + "'"
    }

    /// Redacts an option such as `$filter` or `@p1`. The value of an unknown option is replaced. Digits are a value.
    private func option(_ scan: inout URLScan) -> String {
        let mark = scan.next == "$" ? "$" : "@"
        scan.skip()
        if let next = scan.next, ("0"..."9").contains(next) { return mark }
        let name = scan.consume { $0.properties.isAlphabetic || $0 == "_" || ("0"..."9").contains($0) }
        if redaction.vocabulary.contains(name) || Vocabulary.options.contains(name) {
            guard name != "search" || scan.next != "=" else { return "$search=" + rest(&scan) }
            return mark + name
        }
        let known =
            ["skiptoken", "deltatoken", "id"].contains(name) ? name : "p\(redaction.number(of: name, "option"))"
        guard scan.next == "=" else { return mark + known }
        return mark + known + "=" + rest(&scan)
    }

    private func rest(_ scan: inout URLScan) -> String {
        if scan.next == "=" { scan.skip() }
        return redaction.opaque(scan.consume { $0 != "&" && $0 != ")" && $0 != ";" }, "token")
    }

    /// Redacts a name, number, GUID or date.
    private func word(_ scan: inout URLScan) -> String {
        let start = scan
        let run = scan.consume { URLScan.isWord($0) || $0 == "-" || $0 == ":" || $0 == "." || $0 == "+" }
        if let replaced = redaction.literal(run) { return replaced }
        scan = start
        let name = scan.consume { URLScan.isWord($0) || $0 == "." }
        if name.isEmpty {
            scan.skip()
            return "-"
        }
        if redaction.vocabulary.contains(name) { return name }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        if parts.allSatisfy({ redaction.vocabulary.contains($0) }) { return name }
        return redaction.literal(name) ?? "x\(redaction.number(of: name, "word"))"
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
