import HTTPTypes

/// Builds the head of a response from the lines that libcurl delivers. Interim responses (1xx) are ignored.
struct ResponseHeadParser {
    enum Failure: Error { case tooLarge }

    static let maximumBytes = 512 * 1024
    /// Far below the capacity of HTTPFields.
    static let maximumFields = 2000

    /// The error sentence for a head or trailers beyond these limits.
    static let tooLarge =
        "the response has more than \(maximumBytes / 1024) KiB or \(maximumFields) fields of headers and trailers"

    private(set) var head: HTTPResponse?
    /// The error that the service reports after the body of a failed response (OData 4.01 Part 1, 9.5). Other
    /// trailers are ignored.
    private(set) var errorTrailer: String?
    private var current: HTTPResponse?
    private var bytes = 0

    /// Processes a line. Returns `true` if it completes the head.
    mutating func receive(_ line: UnsafeRawBufferPointer) throws(Failure) -> Bool {
        bytes += line.count
        if bytes > Self.maximumBytes { throw .tooLarge }
        var text = line[...]
        while let last = text.last, last == 0x0A || last == 0x0D { text = text.dropLast() }
        // Fields after the head are trailers.
        guard head == nil else {
            recordTrailer(text)
            return false
        }
        if text.starts(with: "HTTP/".utf8) {
            let words = String(decoding: text, as: UTF8.self).split(separator: " ", maxSplits: 2)
            let status = words.count > 1 ? Int(words[1]) ?? 0 : 0
            current = HTTPResponse(
                status: .init(code: min(max(status, 0), 999), reasonPhrase: words.count > 2 ? String(words[2]) : ""))
        } else if text.isEmpty {
            guard let current, current.status.code >= 200 else { return false }
            head = current
            return true
        } else if let colon = text.firstIndex(of: UInt8(ascii: ":")),
            let name = HTTPField.Name(String(decoding: text[..<colon], as: UTF8.self))
        {
            if (current?.headerFields.count ?? 0) >= Self.maximumFields { throw .tooLarge }
            let value = String(decoding: text[(colon + 1)...], as: UTF8.self)
            current?.headerFields.append(HTTPField(name: name, value: Self.trimmed(value)))
        }
        return false
    }

    private mutating func recordTrailer(_ line: Slice<UnsafeRawBufferPointer>) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            String(decoding: line[..<colon], as: UTF8.self).lowercased() == "odata-error"
        else { return }
        errorTrailer = Self.trimmed(String(decoding: line[(colon + 1)...], as: UTF8.self))
    }

    private static func trimmed(_ value: String) -> String {
        var value = value[...]
        while let first = value.first, first == " " || first == "\t" { value.removeFirst() }
        while let last = value.last, last == " " || last == "\t" { value.removeLast() }
        return String(value)
    }
}
