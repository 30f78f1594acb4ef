/// A member's name in the terms of OData JSON: a property, control information, or an annotation.
///
/// Control information is recognised with and without `odata.` (4.01), and without `@` too, as V3's light format has it.
enum MemberName: Equatable {
    case property(Substring)
    /// `@odata.id`, `@id`, `Orders@odata.count`: the name without prefix, and the property that it is about, if any.
    case control(String, of: Substring)
    /// An annotation of a vocabulary, or an advertised operation.
    case annotation

    /// Whether the name is surely that of a property, which most are.
    static func isPlain(_ name: String) -> Bool {
        var first = true
        for byte in name.utf8 {
            // `@…`, and what begins with `#`, `__` or `odata.`.
            if byte == 0x40 || (first && (byte == 0x23 || byte == 0x5F || byte == 0x6F)) { return false }
            first = false
        }
        return true
    }

    /// With the vocabulary's usual alias, or its namespace.
    static func isContentID(_ name: String) -> Bool {
        name == "@Core.ContentID" || name == "@Org.OData.Core.V1.ContentID"
    }

    /// Whether the member says that the service failed to give the object that it stands in, or a property of it: an error,
    /// or an exception of the vocabulary Core.
    static func saysFailure(_ name: String) -> Bool {
        guard let at = name.utf8.lastIndex(of: UInt8(ascii: "@")) else { return false }
        return failures.contains(name[name.utf8.index(after: at)...])
    }

    private static let failures: Set<Substring> = [
        "error", "odata.error", "Core.ResourceException", "Core.ValueException",
        "Org.OData.Core.V1.ResourceException", "Org.OData.Core.V1.ValueException",
    ]

    init(_ name: String, version: ODataVersionKind) {
        guard let at = name.utf8.lastIndex(of: UInt8(ascii: "@")) else {
            if name.hasPrefix("#") {
                self = .annotation
            } else if name.hasPrefix("odata.") {
                self = .control(String(name.dropFirst(6)), of: "")
            } else if version == .legacy, name.hasPrefix("__") {
                self = .control(name, of: "")
            } else {
                self = .property(name[...])
            }
            return
        }
        let target = name[..<at]
        var control = name[name.utf8.index(after: at)...]
        if control.hasPrefix("odata.") {
            control = control.dropFirst(6)
        } else if control.utf8.contains(UInt8(ascii: ".")) {
            self = .annotation
            return
        }
        self = .control(String(control), of: target)
    }
}

/// Which of the two families of JSON formats a version writes.
enum ODataVersionKind { case legacy, current }
