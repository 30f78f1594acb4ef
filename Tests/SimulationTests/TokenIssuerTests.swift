import Testing

@testable import Simulation

/// The tokens that the simulated service accepts.
struct TokenIssuerTests {
    @Test func `a token is accepted until it expires, and only from its own device`() throws {
        var login = TokenIssuer(lifetime: 100)
        let given = login.token(for: 1, now: 0)
        let token = try #require(given)
        #expect(login.believes("Bearer \(token)", of: 1, now: 99))
        #expect(!login.believes("Bearer \(token)", of: 1, now: 100))
        #expect(!login.believes("Bearer \(token)", of: 2, now: 0))
        #expect(!login.believes(nil, of: 1, now: 0))
    }

    @Test func `a newer token replaces the previous one`() throws {
        var login = TokenIssuer(lifetime: 100)
        let tokens = (0..<2).compactMap { _ in login.token(for: 1, now: 0) }
        #expect(tokens.map { login.believes("Bearer \($0)", of: 1, now: 1) } == [false, true])
    }

    @Test func `refused logins return no valid token until the calm phase`() {
        var login = TokenIssuer(lifetime: 100)
        login.refuse(3, of: 1)
        let given = (0..<3).map { _ in login.token(for: 1, now: 0) }
        #expect(given.allSatisfy { $0.map { !login.believes("Bearer \($0)", of: 1, now: 0) } ?? true })
        #expect(given.contains(nil))
        login.refuse(3, of: 1)
        login.calm()
        let token = login.token(for: 1, now: 0)
        #expect(token.map { login.believes("Bearer \($0)", of: 1, now: 0) } == true)
    }
}
