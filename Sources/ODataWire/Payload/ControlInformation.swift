/// The name of a member in OData JSON: a property, control information, or an annotation.
///
/// Control information is recognized with and without `odata.` (4.01), and also without `@`, as in V3's light format.
enum MemberName: Equatable {
    case property(Substring)
    /// Control information such as `@odata.id`, `@id` or `Orders@odata.count`: the name without prefix, and the
    /// property that it applies to, if any.
    case control(String, of: Substring)
    /// An annotation with a vocabulary term, or an advertised operation.
    case annotation

    /// Returns whether the name is certainly the name of a property, as most names are.
    static func isPlain(_ name: String) -> Bool {
        var first = true
        for byte in name.utf8 {
            // Excludes `@…`, and names that begin with `#`, `__` or `odata.`.
            if byte == 0x40 || (first && (byte == 0x23 || byte == 0x5F || byte == 0x6F)) { return false }
            first = false
        }
        return true
    }

    /// Returns whether the name is the Content-ID annotation, with the vocabulary's usual alias or its namespace.
    static func isContentID(_ name: String) -> Bool {
        name == "@Core.ContentID" || name == "@Org.OData.Core.V1.ContentID"
    }

    /// Returns whether the member states that the service failed to return its object or a property of it: an error, or
    /// an exception of the vocabulary Core.
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

/// The two families of JSON formats.
enum ODataVersionKind { case legacy, current }
