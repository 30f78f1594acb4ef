internal import EDM
internal import ODataQuery
public import ODataWire

/// The change tracking of the service (OData 4.01 Part 1, 11.3).
///
/// In V4 the client requests it with `odata.track-changes`; in V2 it is always active, as in SAP Gateway.
public struct Deltas: Sendable, Hashable {
    /// The form in which the service writes deltas.
    public var form: DeltaForm
    /// V2: whether deltas contain entries for deletions, as Olingo writes them. SAP Gateway has none in JSON.
    public var tellsDeletionsInV2: Bool
    /// The number of states that the service remembers. Delta links to earlier ones get the response ``refusal``.
    public var limit: Int
    /// The response status for an expired delta link.
    public var refusal = 410

    /// Creates a change tracking that remembers 100 states, unless `limit` is given.
    public init(_ form: DeltaForm = .flat, tellsDeletionsInV2: Bool = true, limit: Int = 100) {
        self.form = form
        self.tellsDeletionsInV2 = tellsDeletionsInV2
        self.limit = limit
    }
}

/// The states of the service to which its delta links refer.
struct DeltaBaselines: Sendable {
    private var states: [Int: SandboxState] = [:]
    private var last = 0

    subscript(number: Int) -> SandboxState? { states[number] }

    /// Stores a state and returns its number.
    mutating func keep(_ state: SandboxState, limit: Int) -> Int {
        last += 1
        states[last] = state
        states[last - max(1, limit)] = nil
        return last
    }

    mutating func forget() { states = [:] }
}

/// The content of a delta link, or of the next link of a delta.
struct DeltaToken {
    /// The state that the client has.
    let since: Int
    /// The state that the pages of the delta describe, or nil for the first page.
    var until: Int?
    var offset = 0
    var size: Int?

    init(since: Int) { self.since = since }

    /// Parses a token, or returns nil if it is not from this service.
    init?(_ text: String) {
        let numbers = text.filter { $0 != "'" }.split(separator: "-").map { Int($0) }
        guard let since = numbers.first ?? nil else { return nil }
        self.since = since
        guard numbers.count > 1 else { return }
        guard numbers.count == 4, let until = numbers[1], let offset = numbers[2], let size = numbers[3], offset >= 0,
            size > 0
        else { return nil }
        (self.until, self.offset, self.size) = (until, offset, size)
    }

    var text: String {
        guard let until, let size else { return String(since) }
        return "\(since)-\(until)-\(offset)-\(size)"
    }
}

extension RequestURL {
    /// The delta token of V4 or V2, as written.
    var deltaToken: String? {
        for option in query.split(separator: "&") {
            let parts = option.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, Self.isDeltaToken(parts[0]) else { continue }
            return try? PercentCoding.decode(parts[1])
        }
        return nil
    }

    /// The query without the options that pages and deltas add.
    var ownQuery: String {
        query.split(separator: "&").filter { option in
            let name = option.prefix { $0 != "=" }
            return !Self.isDeltaToken(name) && (try? PercentCoding.decode(name)) != "$skiptoken"
        }.joined(separator: "&")
    }

    func link(_ view: ServiceView, _ token: DeltaToken) -> String {
        let option = view.isLegacy ? "!deltatoken='\(token.text)'" : "$deltatoken=\(token.text)"
        return view.root + path + "?" + (ownQuery.isEmpty ? "" : ownQuery + "&") + option
    }

    private static func isDeltaToken(_ name: Substring) -> Bool {
        let name = try? PercentCoding.decode(name)
        return name == "$deltatoken" || name == "!deltatoken"
    }
}
