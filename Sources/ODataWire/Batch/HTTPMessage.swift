/// A reader for responses that are the body of a response (`application/http`), as status monitors return them.
package enum HTTPMessage {
    /// Parses a response, or returns nil if the bytes are not a response. Accepts any input.
    package static func response(_ bytes: [UInt8]) -> WireResponse? {
        guard let end = headEnd(bytes) else { return nil }
        var lines = String(decoding: bytes[..<end.head], as: UTF8.self).split(whereSeparator: \.isNewline)[...]
        guard let first = lines.popFirst(), first.hasPrefix("HTTP/") else { return nil }
        let words = first.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, let status = Int(words[1]), (100...999).contains(status) else { return nil }
        var headers = HTTPHeaders()
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            headers.add(name: String(line[..<colon]), value: String(value))
        }
        var body = bytes[end.body...]
        if let length = headers["Content-Length"].flatMap({ Int($0) }), length >= 0, length < body.count {
            body = body.prefix(length)
        }
        return WireResponse(status: status, headers: headers, body: Array(body))
    }

    /// Returns the end of the head and the start of the body, which are separated by the first empty line.
    private static func headEnd(_ bytes: [UInt8]) -> (head: Int, body: Int)? {
        var index = 0
        while let feed = bytes[index...].firstIndex(of: 0x0A) {
            let next = feed + 1
            if next < bytes.count, bytes[next] == 0x0A { return (feed, next + 1) }
            if next + 1 < bytes.count, bytes[next] == 0x0D, bytes[next + 1] == 0x0A { return (feed, next + 2) }
            index = next
        }
        return nil
    }
}
