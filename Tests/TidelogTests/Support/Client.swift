import Testing

/// Ways in which an app can reach the Shop. A sample has the same effect in each of them.
struct Client: Sendable, CustomTestStringConvertible {
    enum Dialect: String, Sendable, CaseIterable {
        case v2, v4
    }

    let dialect: Dialect
    let isOnline: Bool

    var testDescription: String { "\(dialect.rawValue.uppercased()) \(isOnline ? "online" : "offline")" }

    static let offline = Dialect.allCases.map { Client(dialect: $0, isOnline: false) }
    static let online = Dialect.allCases.map { Client(dialect: $0, isOnline: true) }
    static let all = offline + online
}
