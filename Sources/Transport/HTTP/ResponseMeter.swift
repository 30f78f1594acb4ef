/// Counts the body of one response against its limits: a value that every transport can use.
struct ResponseMeter: Sendable {
    /// What becomes of the body.
    enum Use: Sendable, Hashable, CaseIterable { case buffered, streamed, media }

    /// What is to be done with bytes that have come.
    struct Verdict: Equatable {
        enum End: Equatable {
            /// The response goes on.
            case none
            /// It is complete with these bytes, although the service sends more.
            case cut
            /// It is in error, for this reason.
            case refused(String)
        }

        /// How many of the bytes are kept.
        var kept: Int
        var end: End
    }

    private enum Role { case success, failure, redirect }

    private let limits: ResponseLimits
    private let role: Role
    private let limit: Int64
    private var decoded: Int64 = 0

    /// Below this size a body may be compressed as well as it can.
    static let freelyExpanded: Int64 = 8 << 20
    /// How much of a redirect's body is kept, for a redirect that turns out to be the response.
    static let keptOfRedirect: Int64 = 16 << 10

    /// - Parameter isRedirect: whether the response has a status and a header by which it may lead elsewhere.
    init(_ limits: ResponseLimits, _ use: Use, status: Int, isRedirect: Bool) {
        self.limits = limits
        role = isRedirect ? .redirect : status >= 400 ? .failure : .success
        limit =
            switch (role, use) {
            case (.success, .buffered): limits.bufferedBytes
            case (.success, .streamed): limits.streamedBytes
            case (.success, .media): limits.mediaBytes
            case (.failure, _), (.redirect, _): limits.refusalBytes
            }
    }

    /// Counts bytes of the decoded body.
    ///
    /// - Parameter received: how many bytes of the encoded body have come so far.
    mutating func count(_ bytes: Int, received: Int64) -> Verdict {
        let before = decoded
        decoded += Int64(bytes)
        switch role {
        case .success:
            guard decoded <= limit else {
                return Verdict(kept: 0, end: .refused("the response has more than \(limit) bytes"))
            }
            guard decoded <= Self.freelyExpanded || decoded / max(1, received) <= limits.expansion else {
                let sentence =
                    "the response decompresses to more than \(limits.expansion) times as many bytes as were received"
                return Verdict(kept: 0, end: .refused(sentence))
            }
            return Verdict(kept: bytes, end: .none)
        case .failure:
            return Verdict(kept: kept(bytes, before, limit), end: decoded > limit ? .cut : .none)
        case .redirect:
            guard decoded <= limit else {
                return Verdict(kept: 0, end: .refused("the service redirects with a body of more than \(limit) bytes"))
            }
            return Verdict(kept: kept(bytes, before, Self.keptOfRedirect), end: .none)
        }
    }

    private func kept(_ bytes: Int, _ before: Int64, _ limit: Int64) -> Int {
        Int(max(0, min(Int64(bytes), limit - before)))
    }
}
