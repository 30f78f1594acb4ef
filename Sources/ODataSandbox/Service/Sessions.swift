internal import ODataWire

/// The tokens that V2 clients must send with modifications. Each session, identified by its cookie, has one.
struct Sessions: Sendable, Hashable {
    static let header = "X-CSRF-Token"
    static let cookie = "sandbox-session"

    /// The number of sessions opened. Higher numbers are not sessions, so tokens need not be stored.
    private var opened = 0
    /// The number up to which sessions are expired.
    private var expired = 0

    mutating func expire() { expired = opened }

    /// Returns the headers with the token of the request's session, or of a new session.
    mutating func fetch(_ request: WireRequest) -> [(String, String)] {
        if let number = session(of: request) { return [(Self.header, Self.token(number))] }
        opened += 1
        return [
            (Self.header, Self.token(opened)), ("Set-Cookie", "\(Self.cookie)=\(opened); Path=/v2; HttpOnly"),
        ]
    }

    func admits(_ request: WireRequest) -> Bool {
        session(of: request).map { request.headers[Self.header] == Self.token($0) } ?? false
    }

    static func isFetch(_ request: WireRequest) -> Bool {
        (request.method == "GET" || request.method == "HEAD") && request.headers[header]?.lowercased() == "fetch"
    }

    private static func token(_ number: Int) -> String { "sandbox-token-\(number)" }

    private func session(of request: WireRequest) -> Int? {
        for field in request.headers.values("Cookie") {
            for pair in field.split(separator: ";") {
                let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
                if parts.count == 2, parts[0] == Self.cookie, let number = Int(parts[1]), number > expired,
                    number <= opened
                {
                    return number
                }
            }
        }
        return nil
    }
}
