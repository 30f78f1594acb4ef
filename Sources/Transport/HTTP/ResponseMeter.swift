/// Measures the body of one response against its limits, for use by any transport.
struct ResponseMeter: Sendable {
    /// The way the body is used.
    enum BodyUse: Sendable, Hashable, CaseIterable { case buffered, streamed, media }

    /// The decision on received bytes.
    struct Verdict: Equatable {
        enum BodyEnd: Equatable {
            /// The response continues.
            case none
            /// The response is complete with these bytes, although the service sends more.
            case cut
            /// The response is invalid, for this reason.
            case refused(String)
        }

        /// The number of bytes to keep.
        var kept: Int
        var end: BodyEnd
    }

    private enum Role { case success, failure, redirect }

    private let limits: ResponseLimits
    private let role: Role
    private let limit: Int64
    private var decoded: Int64 = 0

    /// The size up to which the compression factor of a body is not limited.
    static let freelyExpanded: Int64 = 8 << 20
    /// The number of bytes kept of a redirect's body, in case the redirect is returned as the response.
    static let keptOfRedirect: Int64 = 16 << 10

    /// - Parameter isRedirect: whether the status and a header of the response indicate a redirect.
    init(_ limits: ResponseLimits, _ use: BodyUse, status: Int, isRedirect: Bool) {
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
    /// - Parameter received: the number of bytes of the encoded body received so far.
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
                return Verdict(kept: 0, end: .refused("the body of the redirect has more than \(limit) bytes"))
            }
            return Verdict(kept: kept(bytes, before, Self.keptOfRedirect), end: .none)
        }
    }

    private func kept(_ bytes: Int, _ before: Int64, _ limit: Int64) -> Int {
        Int(max(0, min(Int64(bytes), limit - before)))
    }
}
