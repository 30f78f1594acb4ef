import Operations

/// The tokens that the service believes, one for each device, each for a while.
struct Login {
    /// How long a token is good, in milliseconds.
    let lifetime: Int64
    private var tokens: [Int: (number: Int, until: Timestamp)] = [:]
    /// How often a device's user will not log in, or with what the service does not take.
    private var refusals: [Int: Int] = [:]

    init(lifetime: Int64) { self.lifetime = lifetime }

    private static func text(_ device: Int, _ number: Int) -> String { "d\(device)-\(number)" }

    /// A new token; nil where the user has had enough.
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

    /// The token is no longer good from this moment on.
    mutating func expire(of device: Int) { tokens[device]?.until = 0 }

    /// The next times somebody asks the user for a login, there is none.
    mutating func refuse(_ times: Int, of device: Int) { refusals[device] = times }

    mutating func calm() { refusals = [:] }
}
