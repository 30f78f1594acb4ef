/// A query whose result is the same for all users, as the operator has configured it.
package struct FeedSettings: Sendable, Hashable {
    /// The way in which the gateway decides whether a user may read the feed.
    package enum Authorization: String, Sendable, Hashable {
        /// The service answers the query with the credentials of the user.
        case probe
        /// Every client of the gateway may read the feed.
        case any
    }

    /// The treatment of requests that ask for a language.
    package enum Language: String, Sendable, Hashable {
        /// The request passes through: texts may depend on the language.
        case pass
        /// The rows do not depend on the language, as the operator states.
        case ignore
    }

    package var name: String
    package var query: CanonicalQuery
    /// The time for which a reading of the service is fresh, in milliseconds.
    package var refreshMilliseconds: Int64 = 15 * 60_000
    /// The lifetime of delta links in milliseconds.
    package var tokenMilliseconds: Int64 = 72_000 * 60_000
    package var authorization = Authorization.probe
    package var language = Language.pass

    package init(name: String, query: CanonicalQuery) {
        self.name = name
        self.query = query
    }
}

/// The decision whether a feed can answer, or has to be read first.
package enum FeedFreshness: Sendable, Hashable {
    /// The newest generation answers.
    case fresh
    /// The feed is read first. If this takes too long, the newest generation answers.
    case stale
    /// The feed is read first. The newest generation must not answer: there is none, it is too old, or it lacks changes
    /// that the user has made.
    case required(begunAfter: Int64)

    /// How long rows are served if the service cannot be read, in milliseconds.
    package static let maximumAge: Int64 = 24 * 3_600_000

    /// - Parameters:
    ///   - written: The time of the last change that the user made through the gateway, if there is one.
    package init(_ head: FeedHead, refreshMilliseconds: Int64, written: Int64?, now: Int64) {
        guard head.generation > 0, let began = head.readBegan else {
            self = .required(begunAfter: written ?? .min)
            return
        }
        let age = now - began
        // A clock that was set back does not show whether a change was before the reading.
        if let written, written >= began || age < 0 {
            self = .required(begunAfter: written)
        } else if age > Self.maximumAge {
            self = .required(begunAfter: .min)
        } else {
            // A clock that was set back does not measure the age.
            self = age >= 0 && age < refreshMilliseconds ? .fresh : .stale
        }
    }
}

/// The pause after readings that failed.
package struct FeedBackoff: Sendable, Hashable {
    private var failures = 0
    private var until: Int64 = .min

    package init() {}

    package func mayRead(now: Int64) -> Bool { now >= until }

    package mutating func succeeded() { self = FeedBackoff() }

    /// - Parameter retryAfter: The pause that the service asks for, in milliseconds.
    package mutating func failed(now: Int64, retryAfter: Int64?) {
        failures = min(failures + 1, 12)
        until = now + min(max(1_000 << Int64(failures - 1), retryAfter ?? 0), 3_600_000)
    }
}
