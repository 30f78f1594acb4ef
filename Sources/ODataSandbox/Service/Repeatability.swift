internal import EDM
internal import ODataWire

/// The recognition of repeated requests, which are executed only once however often they are sent.
///
/// The identifiers may be in a single request, in the batch, in the MIME part of a change set, or in each request
/// inside of a batch; in a change set, in all of its requests or in none.
public struct Repeatability: Sendable, Hashable {
    /// The header fields that identify a repeatable request.
    public enum Dialect: String, Sendable, Hashable, CaseIterable {
        /// OASIS Repeatable Requests 1.0.
        case oasis
        /// The older headers `RequestID` and `RepeatabilityCreation`.
        case sap
    }

    /// The header fields that the service recognizes.
    public var dialect: Dialect
    /// The number of seconds for which the service remembers a request, or nil for ever. Without
    /// ``Sandbox/Options/now`` no time passes.
    public var window: Int64?

    /// Creates a recognition that remembers requests for the given number of seconds; by default for ever.
    public init(_ dialect: Dialect, window: Int64? = nil) {
        self.dialect = dialect
        self.window = window
    }

    /// The identification of a request.
    struct Identifier: Hashable, Sendable {
        /// The request's identifier, prefixed with that of the client if there is one.
        let name: String
        /// The date in milliseconds since 1970.
        let firstSent: Int64
    }

    var resultHeader: String { dialect == .oasis ? "Repeatability-Result" : "RepeatabilityResult" }

    /// Returns the identifier, or nil if the request is not marked as repeatable.
    func identifier(in headers: HTTPHeaders) throws(SandboxError) -> Identifier? {
        let isOasis = dialect == .oasis
        let name = headers[isOasis ? "Repeatability-Request-ID" : "RequestID"]
        let created = headers[isOasis ? "Repeatability-First-Sent" : "RepeatabilityCreation"]
        if name == nil, created == nil { return nil }
        guard let name, let created else { throw refusal("A repeatable request must have an identifier and a date.") }
        guard let date = HTTPDate.milliseconds(created) else { throw refusal("“\(created)” is not a valid HTTP date.") }
        guard !name.isEmpty, isOasis || Self.isHexadecimal(name, digits: 32) else {
            throw refusal("“\(name)” is not a valid identifier of a request.")
        }
        let client = isOasis ? headers["Repeatability-Client-ID"] : nil
        return Identifier(name: "\(client ?? "")/\(name)", firstSent: date)
    }

    func refusal(_ message: String, status: Int = 400) -> SandboxError {
        var error = SandboxError(status, .notRepeatable, message)
        error.headers[resultHeader] = "rejected"
        return error
    }

    private static func isHexadecimal(_ text: String, digits: Int) -> Bool {
        text.utf8.count == digits
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x46).contains($0) || (0x61...0x66).contains($0)
            }
    }
}

/// The outcomes of repeatable requests. Requests that are executed together are stored together.
struct RepeatableRequests: Sendable {
    private struct Entry: Sendable {
        let identifiers: [Repeatability.Identifier]
        let requests: [Fingerprint]
        let outcome: Result<[WireResponse], ChangeSetFailure>
    }

    /// The parts of a request that must not differ when it is sent again.
    private struct Fingerprint: Sendable, Hashable {
        let method: String
        let url: String
        let body: [UInt8]

        init(_ request: WireRequest) { (method, url, body) = (request.method, request.url, request.body) }
    }

    private var entries: [Int: Entry] = [:]
    private var places: [String: Int] = [:]
    private var count = 0

    /// Returns the outcome of the first execution of these requests, or nil if they were not executed before.
    mutating func recall(
        _ requests: [WireRequest], as identifiers: [Repeatability.Identifier], _ terms: Repeatability, now: Int64?
    ) throws(SandboxError) -> Result<[WireResponse], ChangeSetFailure>? {
        if let window = terms.window, let now {
            let oldest = now - window * 1000
            forget(before: oldest)
            guard identifiers.allSatisfy({ $0.firstSent >= oldest }) else {
                throw terms.refusal(
                    "The request was first sent before the period for which requests are remembered.", status: 412)
            }
        }
        guard let place = identifiers.compactMap({ places[$0.name] }).first, let entry = entries[place] else {
            return nil
        }
        guard entry.identifiers == identifiers, entry.requests == requests.map(Fingerprint.init) else {
            throw terms.refusal("Another request was sent with this identifier.")
        }
        return entry.outcome
    }

    mutating func keep(
        _ outcome: Result<[WireResponse], ChangeSetFailure>, of requests: [WireRequest],
        as identifiers: [Repeatability.Identifier]
    ) {
        count += 1
        entries[count] = Entry(
            identifiers: identifiers, requests: requests.map(Fingerprint.init), outcome: outcome)
        for identifier in identifiers { places[identifier.name] = count }
    }

    private mutating func forget(before oldest: Int64) {
        for (place, entry) in entries where entry.identifiers.contains(where: { $0.firstSent < oldest }) {
            entries[place] = nil
            for identifier in entry.identifiers { places[identifier.name] = nil }
        }
    }
}
