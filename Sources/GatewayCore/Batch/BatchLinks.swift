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
            if content(of: line).isEmpty {
                // Blank lines before the start line are tolerated.
                if lines.contains(where: { !content(of: $0).isEmpty }) {
                    lines.append(line)
                    bodyStart = end
                    break
                }
            }
            lines.append(line)
        }
        let body = rewrittenBody(bodyStart..<range.upperBound, lines)
        let growth = body.count - (range.upperBound - bodyStart)
        var isStart = true
        for line in lines {
            let text = content(of: line)
            let isBlank = text.isEmpty
            let changed = isBlank ? text : isStart ? startLine(text) : field(text, growth: growth)
            if !isBlank { isStart = false }
            if changed == text {
                output += bytes[line]
            } else {
                output += changed.utf8
                output += bytes[(line.lowerBound + text.utf8.count)..<line.upperBound]
            }
        }
        output += body
    }

    /// The line without its line break.
    private func content(of line: Range<Int>) -> String {
        var slice = bytes[line]
        while let last = slice.last, last == 0x0A || last == 0x0D { slice.removeLast() }
        return String(decoding: slice, as: UTF8.self)
    }

    private func startLine(_ line: String) -> String {
        guard direction == .request, let space = line.firstIndex(of: " ") else { return line }
        let rest = line[line.index(after: space)...]
        let end = rest.firstIndex(of: " ") ?? rest.endIndex
        let url = String(rest[..<end])
        let changed = roots.rewritten(url, direction)
        return changed == url ? line : line[...space] + changed + rest[end...]
    }

    private func field(_ line: String, growth: Int) -> String {
        guard let colon = line.firstIndex(of: ":") else { return line }
        let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        let lead = line[..<value.startIndex]
        switch line[..<colon].lowercased() {
        case "location", "content-location", "odata-entityid", "dataserviceid":
            return lead + roots.rewritten(String(value), direction)
        case "host" where direction == .request: return lead + roots.origin.authority
        case "content-length":
            guard growth != 0, let length = Int(value) else { return line }
            return lead + String(length + growth)
        default: return line
        }
    }

    private func rewrittenBody(_ range: Range<Int>, _ lines: [Range<Int>]) -> [UInt8] {
        let body = Array(bytes[range])
        let isJSON = lines.contains { line in
            let text = content(of: line).lowercased()
            return text.hasPrefix("content-type:") && text.contains("json")
        }
        guard isJSON, !body.isEmpty else { return body }
        let isAboutLinks = lines.contains { content(of: $0).contains("/$links/") }
        return LinkRewriter.rewrite(body, roots, direction, scope: isAboutLinks ? .links : [])
    }
}
