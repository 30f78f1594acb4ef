import ODataQuery

/// The reason why a header cannot be sent with a request, in a batch or on its own.
package enum HeaderObstacle: Sendable, Hashable, CustomStringConvertible {
    /// The name is not a token (RFC 9110, section 5.1).
    case name(String)
    /// The value contains control characters (RFC 9110, section 5.5).
    case value(of: String)
    /// The header may occur on the batch request but not in its parts (OData 4.01 Part 1, section 11.7.3).
    case ofConnection(String)

    /// A description of the obstacle. It omits the value, which may be secret.
    package var description: String {
        switch self {
        case .name(let name): "“\(name.filter { !$0.isNewline })” cannot be the name of a header."
        case .value(let name): "The value of the header \(name) contains a line break or another control character."
        case .ofConnection(let name): "The header \(name) cannot be sent with a single operation."
        }
    }

    package var recovery: String {
        switch self {
        case .name: "Use only letters, digits and hyphens."
        case .value: "Encode the value, for example with percent-encoding."
        case .ofConnection:
            "Set the header for all requests, as a custom header of the session or in the authentication."
        }
    }
}

extension HTTPHeaders {
    /// Returns why the header cannot be sent, or nil if it can.
    ///
    /// - Parameter inBatch: Whether the request is, or may be, a part of a batch.
    package static func obstacle(_ name: String, _ value: String, inBatch: Bool = true) -> HeaderObstacle? {
        guard !name.isEmpty, name.utf8.allSatisfy(MultipartScanner.isToken) else { return .name(name) }
        guard value.utf8.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else { return .value(of: name) }
        return inBatch && MultipartBatchWriter.isForbidden(name) ? .ofConnection(name) : nil
    }

    /// Returns the obstacle of the first header that cannot be sent, or nil.
    package func obstacle(inBatch: Bool) -> HeaderObstacle? {
        for field in fields {
            if let obstacle = Self.obstacle(field.name, field.value, inBatch: inBatch) { return obstacle }
        }
        return nil
    }
}
