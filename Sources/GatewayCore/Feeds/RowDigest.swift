package import EDM

/// Sixteen bytes that stand for the content of a row.
package struct RowDigest: Sendable, Hashable {
    package let high: UInt64
    package let low: UInt64

    /// Creates a digest of the first sixteen bytes of a hash. Missing bytes are zero.
    package init(_ hash: UnsafeRawBufferPointer) {
        var words: (high: UInt64, low: UInt64) = (0, 0)
        for index in 0..<min(hash.count, 8) { words.high |= UInt64(hash[index]) << UInt64(56 - 8 * index) }
        for index in 0..<min(max(hash.count - 8, 0), 8) {
            words.low |= UInt64(hash[8 + index]) << UInt64(56 - 8 * index)
        }
        (high, low) = words
    }

    /// The same for bytes in an array. Not generic, because the initializer runs for each row of each reading.
    package init(_ hash: [UInt8]) { self = hash.withUnsafeBytes { RowDigest($0) } }

    package var bytes: [UInt8] {
        [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) } }
    }
}

/// The content of a row for its digest.
package enum RowContent {
    /// Control information that does not belong to the content: links that a service may write differently each time.
    private static let links: Set<Substring> = [
        "context", "editLink", "readLink", "navigationLink", "associationLink", "mediaReadLink", "mediaEditLink",
    ]

    /// Returns bytes that are equal for two rows if and only if their members are equal, in any order. Numbers are
    /// compared by their text. The ETag belongs to the content: clients send it with their changes.
    ///
    /// - Parameter ignored: Names of further members of the row that are ignored.
    package static func bytes(of row: JSONValue, ignoring ignored: Set<String> = []) -> [UInt8] {
        var output: [UInt8] = []
        write(row, ignored, &output)
        return output
    }

    private static func write(_ value: JSONValue, _ ignored: Set<String>, _ output: inout [UInt8]) {
        switch value {
        case .null: output.append(UInt8(ascii: "n"))
        case .boolean(let flag): output.append(UInt8(ascii: flag ? "t" : "f"))
        case .number(let text): write("#", text, &output)
        case .string(let text): write("\"", text, &output)
        case .array(let items):
            output.append(UInt8(ascii: "["))
            for item in items { write(item, [], &output) }
            output.append(UInt8(ascii: "]"))
        case .object(let object):
            output.append(UInt8(ascii: "{"))
            let members = object.members
                .filter { (ignored.isEmpty || !ignored.contains($0.name)) && !isLink($0.name) }
                .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            for member in members {
                // A deferred collection of V2 is only a link.
                if member.value.object?.contains("__deferred") == true { continue }
                write(":", member.name, &output)
                write(member.value, member.name == "__metadata" ? ["media_src", "edit_media"] : [], &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ mark: Unicode.Scalar, _ text: String, _ output: inout [UInt8]) {
        output.append(UInt8(ascii: mark))
        withUnsafeBytes(of: UInt32(clamping: text.utf8.count).bigEndian) { output.append(contentsOf: $0) }
        output.append(contentsOf: text.utf8)
    }

    private static func isLink(_ name: String) -> Bool {
        guard let at = name.utf8.lastIndex(of: UInt8(ascii: "@")) else { return false }
        var term = name[name.utf8.index(after: at)...]
        if term.hasPrefix("odata.") { term = term.dropFirst(6) }
        return links.contains(term)
    }

    /// Returns whether a part of the row is on another page of the service, so that the row is not complete.
    package static func isIncomplete(_ row: JSONValue) -> Bool {
        switch row {
        case .array(let items): items.contains(where: isIncomplete)
        case .object(let object):
            object.members.contains { member in
                member.name.hasSuffix("@odata.nextLink") || member.name.hasSuffix("@nextLink")
                    || member.name == "__next"
                    || isIncomplete(member.value)
            }
        default: false
        }
    }
}
