package import ODataWire

/// Replaces the root of the service in the URLs, header fields and JSON bodies of a multipart batch, and adds header
/// fields to responses. All other bytes stay as they are, except the declared lengths of everything that changes.
package struct BatchLinks {
    private let bytes: [UInt8]
    private let roots: ServiceRoots
    private let direction: ServiceRoots.Direction
    /// The fields to add, by the first byte of the request or response.
    private let fields: [Int: String]
    /// The changes in the order of their places.
    private var edits: [Edit] = []
    /// Whether all fields could be added.
    private var isComplete = true
    /// Whether a request is outside of the service, or its URL cannot be found.
    private var leaves = false

    private struct Edit {
        let range: Range<Int>
        let bytes: [UInt8]
        var growth: Int { bytes.count - range.count }
    }

    /// Returns the rewritten batch, or the bytes unchanged if they cannot be read as a batch.
    package static func rewrite(
        _ bytes: [UInt8], contentType: String, _ roots: ServiceRoots, _ direction: ServiceRoots.Direction
    ) -> [UInt8] {
        guard let document = try? MultipartBatchReader().document(bytes, contentType: contentType, dropsCutPart: true)
        else { return bytes }
        return rewrite(document, roots, direction) ?? bytes
    }

    /// Returns the rewritten batch.
    ///
    /// - Parameter fields: Header fields without a line break, by the first byte of the request or response.
    /// - Returns: `nil` if a field cannot be added.
    package static func rewrite(
        _ document: MultipartDocument, _ roots: ServiceRoots, _ direction: ServiceRoots.Direction,
        adding fields: [Int: String] = [:]
    ) -> [UInt8]? {
        var links = BatchLinks(document.bytes, roots, direction, fields)
        for part in document.parts { _ = links.part(part) }
        return links.isComplete ? links.output : nil
    }

    /// Returns the batch for the origin, or `nil` if a request in it is outside of the service or cannot be read.
    static func requests(_ document: MultipartDocument, _ roots: ServiceRoots) -> [UInt8]? {
        var links = BatchLinks(document.bytes, roots, .request, [:])
        for part in document.parts { _ = links.part(part) }
        return links.leaves ? nil : links.output
    }

    private init(
        _ bytes: [UInt8], _ roots: ServiceRoots, _ direction: ServiceRoots.Direction, _ fields: [Int: String]
    ) {
        (self.bytes, self.roots, self.direction, self.fields) = (bytes, roots, direction, fields)
    }

    private var output: [UInt8] {
        if edits.isEmpty { return bytes }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count + edits.reduce(0) { $0 + $1.growth })
        var position = 0
        for edit in edits where edit.range.lowerBound >= position {
            output += bytes[position..<edit.range.lowerBound]
            output += edit.bytes
            position = edit.range.upperBound
        }
        output += bytes[position...]
        return output
    }

    // MARK: Changes

    /// Records a change.
    ///
    /// - Returns: The number of bytes by which the batch grows.
    private mutating func change(_ range: Range<Int>, _ text: some Collection<UInt8>) -> Int {
        let edit = Edit(range: range, bytes: Array(text))
        edits.append(edit)
        return edit.growth
    }

    /// Changes a part, and the length of its content if its head declares it.
    ///
    /// - Returns: The number of bytes by which the part grows.
    private mutating func part(_ part: MultipartDocument.BodyPart) -> Int {
        let place = edits.count
        var growth = 0
        let coding = part.headers["Content-Transfer-Encoding"] ?? "binary"
        if !["binary", "8bit", "7bit"].contains(coding.lowercased()) { leaves = true }
        switch part.content {
        case .operation(let range): growth = operation(range)
        case .changeSet(let members, _): for member in members { growth += self.part(member) }
        }
        guard growth != 0, part.headers["Content-Length"] != nil else { return growth }
        let lengths = lines(part.head).lines.map(content(of:)).filter { isField($0, Self.contentLength) }
        guard lengths.count == 1, let changed = length(lengths[0], growth: growth) else {
            // The length is in a form that is not replaced here, such as a folded line.
            isComplete = isComplete && fields.isEmpty
            return growth
        }
        let edit = Edit(range: lengths[0], bytes: Array(changed.utf8))
        edits.insert(edit, at: place)
        return growth + edit.growth
    }

    /// Changes a request or a response.
    ///
    /// - Returns: The number of bytes by which it grows.
    private mutating func operation(_ range: Range<Int>) -> Int {
        let (lines, body) = lines(range)
        let newBody = rewrittenBody(body, lines)
        let bodyGrowth = newBody.map { $0.count - body.count } ?? 0
        var growth = 0
        for (index, line) in lines.enumerated() {
            let content = content(of: line)
            let changed = index == 0 ? startLine(content) : field(content, growth: bodyGrowth)
            if let changed { growth += change(content, changed.utf8) }
            if index == 0, let field = fields[range.lowerBound] { growth += add(field, after: line, range) }
        }
        if lines.isEmpty, fields[range.lowerBound] != nil { isComplete = false }
        if let newBody { growth += change(body, newBody) }
        return growth
    }

    /// Adds a header field after the start line.
    private mutating func add(_ field: String, after line: Range<Int>, _ range: Range<Int>) -> Int {
        let end = line.upperBound
        if end < range.upperBound, [UInt8(ascii: " "), UInt8(ascii: "\t")].contains(bytes[end]) {
            // The next line would become a continuation of the new field.
            isComplete = false
            return 0
        }
        if bytes[end - 1] == 0x0A {
            let lineBreak = bytes[line].dropLast().last == 0x0D ? "\r\n" : "\n"
            return change(end..<end, (field + lineBreak).utf8)
        }
        // The start line is the whole response: the line break after it belongs to the delimiter.
        let lineBreak = end < bytes.count && bytes[end] == 0x0A ? "\n" : "\r\n"
        return change(end..<end, (lineBreak + field).utf8)
    }

    // MARK: Lines

    /// Returns the lines of a head without blank lines before it, and the range after its blank line.
    private func lines(_ range: Range<Int>) -> (lines: [Range<Int>], rest: Range<Int>) {
        var lines: [Range<Int>] = []
        var position = range.lowerBound
        while position < range.upperBound {
            let end = bytes[position..<range.upperBound].firstIndex(of: 0x0A).map { $0 + 1 } ?? range.upperBound
            let line = position..<end
            position = end
            if lines.isEmpty, bytes[line].allSatisfy({ [0x20, 0x09, 0x0D, 0x0A].contains($0) }) { continue }
            if content(of: line).isEmpty { break }
            lines.append(line)
        }
        return (lines, position..<range.upperBound)
    }

    /// The line without its line break.
    private func content(of line: Range<Int>) -> Range<Int> {
        var end = line.upperBound
        while end > line.lowerBound, bytes[end - 1] == 0x0A || bytes[end - 1] == 0x0D { end -= 1 }
        return line.lowerBound..<end
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Returns the start line of a request if it changes, and checks its URL.
    private mutating func startLine(_ content: Range<Int>) -> String? {
        guard direction == .request else { return nil }
        let line = text(content)
        let method = line.utf8.prefix { $0 > 0x20 }
        let tail = line[method.endIndex...]
        let rest = tail.drop { $0 == " " }
        // Some readers end a line at CR or a word at other control characters; some take a tab as part of the URL.
        guard !method.isEmpty, method.allSatisfy(Self.isLetter), tail.hasPrefix(" "), !rest.isEmpty,
            !rest.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else {
            leaves = true
            return nil
        }
        let end = rest.firstIndex(of: " ") ?? rest.endIndex
        let url = String(rest[..<end])
        let changed = roots.rewrittenTarget(url)
        // A URL that is not encoded contains spaces.
        let whole = changed + Self.withoutVersion(rest[end...])
        if ![changed, whole].allSatisfy({ RequestPath.isContained($0, in: roots.origin) }) { leaves = true }
        // A batch in a batch, which OData does not permit, would not be checked.
        if RequestPath.isBatch(changed) { leaves = true }
        return changed == url ? nil : line[..<rest.startIndex] + changed + rest[end...]
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    /// Returns the end of a start line without the version of HTTP.
    private static func withoutVersion(_ text: Substring) -> Substring {
        guard let space = text.lastIndex(of: " "), text[space...].hasPrefix(" HTTP/") else { return text }
        return text[..<space]
    }

    private static let contentLength = Array("content-length".utf8)

    /// The names of the fields that can change. Only their lines are decoded.
    private static let names =
        ["location", "content-location", "odata-entityid", "dataserviceid", "host"].map { Array($0.utf8) }
        + [contentLength]

    /// Returns the line of a field if it changes.
    private func field(_ content: Range<Int>, growth: Int) -> String? {
        guard Self.names.contains(where: { isField(content, $0) }) else { return nil }
        if isField(content, Self.contentLength) { return length(content, growth: growth) }
        let line = text(content)
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        let lead = line[..<value.startIndex]
        if isField(content, Self.host) { return direction == .request ? lead + roots.origin.authority : nil }
        let changed = roots.rewritten(String(value), direction)
        return changed == value ? nil : lead + changed
    }

    private static let host = Array("host".utf8)

    /// Returns the line of a Content-Length if it changes.
    private func length(_ content: Range<Int>, growth: Int) -> String? {
        let line = text(content)
        guard growth != 0, let colon = line.firstIndex(of: ":") else { return nil }
        let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        guard let old = Int(value.prefix { $0 != " " && $0 != "\t" }) else { return nil }
        let (new, isTooLarge) = old.addingReportingOverflow(growth)
        return isTooLarge || new < 0 ? nil : line[..<value.startIndex] + String(new)
    }

    /// Whether a line begins with the name, which is in lowercase, and a colon.
    private func isField(_ content: Range<Int>, _ name: [UInt8]) -> Bool {
        guard content.count > name.count, bytes[content.lowerBound + name.count] == UInt8(ascii: ":") else {
            return false
        }
        for (index, byte) in name.enumerated() {
            let found = bytes[content.lowerBound + index]
            guard found == byte || (0x41...0x5A).contains(found) && found + 0x20 == byte else { return false }
        }
        return true
    }

    // MARK: Bodies

    private static let contentType = Array("content-type".utf8)
    private static let json = Array("json".utf8)
    private static let linksOfV2 = Array("/$links/".utf8)

    /// Returns the body if it changes.
    private func rewrittenBody(_ range: Range<Int>, _ lines: [Range<Int>]) -> [UInt8]? {
        guard !range.isEmpty else { return nil }
        let isJSON = lines.contains { line in
            guard isField(line, Self.contentType) else { return false }
            return bytes[line].map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }.contains(sequence: Self.json)
        }
        guard isJSON else { return nil }
        let isAboutLinks = lines.contains { bytes[$0].contains(sequence: Self.linksOfV2) }
        let body = Array(bytes[range])
        let rewritten = LinkRewriter.rewrite(body, roots, direction, scope: isAboutLinks ? .links : [])
        return rewritten == body ? nil : rewritten
    }
}
