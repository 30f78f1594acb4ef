public import HTTPTypes

/// The credentials of a request. Their description does not contain them.
public enum Credentials: Sendable, Hashable {
    /// No credentials.
    case none
    /// Basic authentication (RFC 7617), in UTF-8. The user may not contain a colon.
    case basic(user: String, password: String)
    /// A bearer token (RFC 6750).
    case bearer(String)

    /// Sets the Authorization header.
    public func apply(to request: inout HTTPRequest) {
        switch self {
        case .none: break
        case .basic(let user, let password):
            request.headerFields[.authorization] = "Basic " + Self.base64(Array("\(user):\(password)".utf8))
        case .bearer(let token): request.headerFields[.authorization] = "Bearer " + token
        }
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for place in 0...3 {
                text.append(
                    place > group.count ? UInt8(ascii: "=") : alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        switch self {
        case .none: "no credentials"
        case .basic: "basic credentials (hidden)"
        case .bearer: "a bearer token (hidden)"
        }
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
