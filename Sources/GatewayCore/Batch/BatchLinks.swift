internal import ODataWire

/// Replaces the root of the service in the URLs, header fields and JSON bodies of a multipart batch. All other bytes
/// stay as they are.
package struct BatchLinks {
    private let bytes: [UInt8]
    private let roots: ServiceRoots
    private let direction: ServiceRoots.Direction

    /// Returns the rewritten batch, or the bytes unchanged if they cannot be read as a batch.
    package static func rewrite(
        _ bytes: [UInt8], contentType: String, _ roots: ServiceRoots, _ direction: ServiceRoots.Direction
    ) -> [UInt8] {
        guard let document = try? MultipartBatchReader().document(bytes, contentType: contentType, dropsCutPart: true)
        else { return bytes }
        let links = BatchLinks(bytes: bytes, roots: roots, direction: direction)
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count + 256)
        var position = 0
        for range in operations(document.parts) where range.lowerBound >= position {
            output += bytes[position..<range.lowerBound]
            links.operation(range, &output)
            position = range.upperBound
        }
        output += bytes[position...]
        return output
    }

    private static func operations(_ parts: [MultipartDocument.Part]) -> [Range<Int>] {
        parts.flatMap { part -> [Range<Int>] in
            switch part.content {
            case .operation(let range): [range]
            case .changeSet(let members, _): operations(members)
            }
        }
    }

    // MARK: One request or response

    private func operation(_ range: Range<Int>, _ output: inout [UInt8]) {
        var lines: [Range<Int>] = []
        var position = range.lowerBound
        var bodyStart = range.upperBound
        while position < range.upperBound {
            let end = bytes[position..<range.upperBound].firstIndex(of: 0x0A).map { $0 + 1 } ?? range.upperBound
            let line = position..<end
            position = end
            lines.append(line)
            // Blank lines before the start line are tolerated.
            if content(of: line).isEmpty, lines.contains(where: { !content(of: $0).isEmpty }) {
                bodyStart = end
                break
            }
        }
        let body = rewrittenBody(bodyStart..<range.upperBound, lines)
        let growth = body.count - (range.upperBound - bodyStart)
        var isStart = true
        for line in lines {
            let content = content(of: line)
            let changed = content.isEmpty ? nil : isStart ? startLine(content) : field(content, growth: growth)
            if !content.isEmpty { isStart = false }
            guard let changed else {
                output += bytes[line]
                continue
            }
            output += changed.utf8
            output += bytes[content.upperBound..<line.upperBound]
        }
        output += body
    }

    /// The line without its line break.
    private func content(of line: Range<Int>) -> Range<Int> {
        var end = line.upperBound
        while end > line.lowerBound, bytes[end - 1] == 0x0A || bytes[end - 1] == 0x0D { end -= 1 }
        return line.lowerBound..<end
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Returns the start line if it changes.
    private func startLine(_ content: Range<Int>) -> String? {
        let line = text(content)
        guard direction == .request, let space = line.firstIndex(of: " ") else { return nil }
        let rest = line[line.index(after: space)...]
        let end = rest.firstIndex(of: " ") ?? rest.endIndex
        let url = String(rest[..<end])
        let changed = roots.rewrittenTarget(url)
        return changed == url ? nil : line[...space] + changed + rest[end...]
    }

    /// The names of the fields that can change. Only their lines are decoded.
    private static let names = [
        "location", "content-location", "odata-entityid", "dataserviceid", "host", "content-length",
    ].map { Array($0.utf8) }

    /// Returns the line of a field if it changes.
    private func field(_ content: Range<Int>, growth: Int) -> String? {
        guard Self.names.contains(where: { isField(content, $0) }) else { return nil }
        let line = text(content)
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        let lead = line[..<value.startIndex]
        switch line[..<colon].lowercased() {
        case "location", "content-location", "odata-entityid", "dataserviceid":
            return lead + roots.rewritten(String(value), direction)
        case "host" where direction == .request: return lead + roots.origin.authority
        case "content-length":
            guard growth != 0, let length = Int(value) else { return nil }
            return lead + String(length + growth)
        default: return nil
        }
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

    private static let contentType = Array("content-type".utf8)
    private static let json = Array("json".utf8)
    private static let linksOfV2 = Array("/$links/".utf8)

    private func rewrittenBody(_ range: Range<Int>, _ lines: [Range<Int>]) -> [UInt8] {
        let body = Array(bytes[range])
        let isJSON = lines.contains { line in
            guard isField(line, Self.contentType) else { return false }
            return bytes[line].map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }.contains(sequence: Self.json)
        }
        guard isJSON, !body.isEmpty else { return body }
        let isAboutLinks = lines.contains { bytes[$0].contains(sequence: Self.linksOfV2) }
        return LinkRewriter.rewrite(body, roots, direction, scope: isAboutLinks ? .links : [])
    }
}
