/// The identity of a request in the ledger.
///
/// The user is not a part of it: a request that another user sends under the same identifiers is refused instead of
/// executed, because it may be the same request with new credentials.
package struct LedgerKey: Sendable, Hashable {
    /// The name of the endpoint.
    package let endpoint: String
    package let identifier: RepeatabilityIdentifier.Dialect
    package let client: String
    package let request: String
    /// The day of the first transmission, counted from 1970.
    package let day: Int32

    package init(endpoint: String, _ identifier: RepeatabilityIdentifier) {
        self.endpoint = endpoint
        self.identifier = identifier.dialect
        client = identifier.client
        request = identifier.request
        day = identifier.day
    }

    package init(
        endpoint: String, dialect: RepeatabilityIdentifier.Dialect, client: String, request: String, day: Int32
    ) {
        self.endpoint = endpoint
        identifier = dialect
        self.client = client
        self.request = request
        self.day = day
    }
}

/// A row of the ledger: one repeatable request.
package struct LedgerRow: Sendable, Hashable {
    package enum UnitState: Int64, Sendable, Hashable {
        /// The origin may be executing the request.
        case sending = 1
        /// The response of the origin was lost.
        case doubt = 2
        /// The outcome is known.
        case done = 3
    }

    package var key: LedgerKey
    /// A digest of the credentials.
    package var principal: [UInt8]
    /// A digest of the content of all requests that take effect together.
    package var fingerprint: [UInt8]
    package var state: UnitState
    /// The fence: only the attempt with this number may record an outcome.
    package var attempt: Int64
    /// The time after which the origin no longer executes the request, in milliseconds since 1970.
    package var leaseEnd: Int64
    /// The encoded outcome, in the row of the first request of a unit.
    package var outcome: [UInt8]?

    package init(
        key: LedgerKey, principal: [UInt8], fingerprint: [UInt8], state: UnitState, attempt: Int64, leaseEnd: Int64,
        outcome: [UInt8]? = nil
    ) {
        self.key = key
        self.principal = principal
        self.fingerprint = fingerprint
        self.state = state
        self.attempt = attempt
        self.leaseEnd = leaseEnd
        self.outcome = outcome
    }
}

/// The request to execute a unit: a change set, or a modification by itself.
package struct LedgerClaim: Sendable, Hashable {
    /// The keys of all requests of the unit, without duplicates; at least one.
    package let keys: [LedgerKey]
    package let principal: [UInt8]
    package let fingerprint: [UInt8]

    package init(keys: [LedgerKey], principal: [UInt8], fingerprint: [UInt8]) {
        self.keys = keys
        self.principal = principal
        self.fingerprint = fingerprint
    }
}

/// The end of an attempt.
package struct LedgerCompletion: Sendable, Hashable {
    package enum AttemptEnd: Sendable, Hashable {
        /// The outcome is known and answers every repetition.
        case done([UInt8])
        /// The origin may have executed the unit.
        case doubt
        /// The origin has not executed the unit; a repetition is executed.
        case notExecuted
    }

    package let keys: [LedgerKey]
    package let attempt: Int64
    package let end: AttemptEnd

    /// Whether the outcome is known.
    package var isDone: Bool { if case .done = end { true } else { false } }

    package init(keys: [LedgerKey], attempt: Int64, end: AttemptEnd) {
        self.keys = keys
        self.attempt = attempt
        self.end = end
    }
}
