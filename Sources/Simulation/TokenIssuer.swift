import Operations

/// The tokens that the service accepts: one for each device, valid for a limited time.
struct TokenIssuer {
    /// The lifetime of a token in milliseconds.
    let lifetime: Int64
    private var tokens: [Int: (number: Int, until: Timestamp)] = [:]
    /// The number of times that a device's user will refuse to log in or use invalid credentials.
    private var refusals: [Int: Int] = [:]

    init(lifetime: Int64) { self.lifetime = lifetime }

    private static func text(_ device: Int, _ number: Int) -> String { "d\(device)-\(number)" }

    /// Returns a new token, or nil if the user refuses to log in.
    mutating func token(for device: Int, now: Timestamp) -> String? {
        if let left = refusals[device], left > 0 {
            refusals[device] = left - 1
            return left.isMultiple(of: 3) ? "forgotten" : nil
        }
        let number = (tokens[device]?.number ?? 0) + 1
        tokens[device] = (number, now + lifetime)
        return Self.text(device, number)
    }

    func believes(_ authorization: String?, of device: Int, now: Timestamp) -> Bool {
        guard let token = tokens[device], now < token.until else { return false }
        return authorization == "Bearer " + Self.text(device, token.number)
    }

    /// Expires the token immediately.
    mutating func expire(of device: Int) { tokens[device]?.until = 0 }

    /// Makes the next logins of the user fail.
    mutating func refuse(_ times: Int, of device: Int) { refusals[device] = times }

    mutating func calm() { refusals = [:] }
}
