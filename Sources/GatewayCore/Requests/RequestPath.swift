/// Checks of the path of a request.
///
/// Services differ in the order in which they decode a path, remove its parameters (`;v=1`) and resolve its dot
/// segments. A path is refused if it leaves its root in one of these orders. Quotation marks do not protect a segment:
/// servers resolve dots before an OData library sees the key. Therefore a key like `Files('a/../b')` is refused, also
/// percent-encoded, while `Files('..')`, `Files('a;..')` and `Files('x/..')` are not.
package enum RequestPath {
    /// Returns whether no segment of the path leads out of its root, also after decoding. Accepts any text.
    package static func isContained(_ target: String) -> Bool {
        guard let forms = forms(target.prefix { $0 != "?" && $0 != "#" }) else { return false }
        return forms.allSatisfy { form in
            !hasDotSegment(form) && !form.contains { $0 < 0x20 || $0 == 0x7F }
        }
    }

    /// Returns whether the target of a request in a batch stays below the root of its service. Accepts any text.
    ///
    /// - Parameter target: A URL that is relative to the root, an absolute path, or an absolute URL.
    package static func isContained(_ target: some StringProtocol, in root: ServiceRoot) -> Bool {
        guard let forms = forms(target.prefix { $0 != "?" }), !forms.contains(where: hasDotSegment) else {
            return false
        }
        guard let plain = forms.first, forms.contains(where: isAbsolute) else { return true }
        // Two slashes begin the name of a host.
        return !plain.dropFirst().prefix(1).contains(where: isSlash) && root.rest(of: target) != nil
    }

    /// Returns the segments that are not empty, decoded up to twice and without parameters, in lowercase.
    static func segments(_ path: Substring) -> [String] {
        guard let decoded = forms(path)?.last else { return [] }
        return decoded.split(whereSeparator: isSlash).map(plain).filter { !$0.isEmpty }
            .map { String(decoding: $0, as: UTF8.self).lowercased() }
    }

    /// Returns whether a target is the batch of a service.
    static func isBatch(_ target: String) -> Bool { segments(target.prefix { $0 != "?" }).last == "$batch" }

    /// Returns a segment with its percent-encoding decoded once.
    static func decoded(_ segment: Substring) -> String? {
        percentDecoded(Array(segment.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the path as it is, decoded once, and decoded twice as some services do; nil if it contains `%00`.
    private static func forms(_ path: some StringProtocol) -> [[UInt8]]? {
        let plain = Array(path.utf8)
        guard let once = percentDecoded(plain), let twice = percentDecoded(once) else { return nil }
        return [plain, once, twice]
    }

    private static func hasDotSegment(_ path: [UInt8]) -> Bool {
        path.split(omittingEmptySubsequences: false, whereSeparator: isSlash).contains { segment in
            // Some servers remove white space.
            let bytes = plain(segment)
            return bytes.elementsEqual(".".utf8) || bytes.elementsEqual("..".utf8)
        }
    }

    /// Returns a segment without its parameters and white space.
    private static func plain(_ segment: ArraySlice<UInt8>) -> [UInt8] {
        segment.prefix { $0 != UInt8(ascii: ";") }.filter { $0 > 0x20 }
    }

    /// Whether the text begins with a slash or with a scheme.
    private static func isAbsolute(_ target: [UInt8]) -> Bool {
        let text = target.drop { $0 <= 0x20 }
        if text.first.map(isSlash) == true { return true }
        guard let end = text.firstIndex(where: { !isSchemeByte($0) }) else { return false }
        return end > text.startIndex && text[end] == UInt8(ascii: ":")
    }

    private static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "+-.".utf8.contains(byte)
        }
    }

    /// Returns the bytes with `%XX` decoded. A percent sign without digits is kept; nil for `%00`.
    private static func percentDecoded(_ bytes: [UInt8]) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0x25, index + 2 < bytes.count, let high = bytes[index + 1].hexadecimalValue,
                let low = bytes[index + 2].hexadecimalValue
            {
                let byte = high << 4 | low
                if byte == 0 { return nil }
                result.append(byte)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }
}
