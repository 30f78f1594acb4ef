import EDM
import ODataSandbox
import ODataWire
import OfflineStore

/// The sandbox with the sessions of its devices and its history.
struct SimulatedService {
    var sandbox: Sandbox
    private(set) var ledger = Ledger()
    /// The cookies of each device, which a transport would store.
    private var cookies: [Int: [String: String]] = [:]

    init(_ sandbox: Sandbox) {
        self.sandbox = sandbox
        ledger.observe(at: sandbox)
    }

    /// Restores an earlier state; the history is kept.
    mutating func forget(since before: SimulatedService) {
        sandbox = before.sandbox
        ledger.observe(at: sandbox)
    }

    /// Handles a request.
    ///
    /// - Parameter fault: A fault for this request that permits a response.
    mutating func handle(_ request: WireRequest, from device: Int, _ fault: Fault? = nil) -> WireResponse {
        var request = request
        if let cookies = cookies[device], !cookies.isEmpty {
            request.headers["Cookie"] = cookies.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: "; ")
        }
        let response: WireResponse
        if let fault {
            sandbox.faults = [fault]
            let reply = sandbox.reply(to: request)
            sandbox.faults = []
            guard case .response(let answer) = reply else { preconditionFailure("\(fault) returns no response") }
            response = answer
        } else {
            response = sandbox.handle(request)
        }
        for field in response.headers.values("Set-Cookie") {
            let pair = field.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { cookies[device, default: [:]][String(pair[0])] = String(pair[1]) }
        }
        // An asynchronously accepted request may take effect when it is polled.
        if request.method != "GET" || sandbox.options.asynchrony != nil { ledger.observe(at: sandbox) }
        return response
    }
}

extension SimulatedService {
    /// The entities and their links as lines.
    var lines: [String] {
        var marks: [Int: String] = [:]
        for content in FieldService.sets.flatMap({ sandbox.contents(of: $0) }) {
            marks[content.number] = content.values["Mark"]?.stringValue
        }
        return FieldService.sets.flatMap { set in
            sandbox.contents(of: set).map { content in
                let links = FieldService.navigations(of: set).flatMap { navigation in
                    sandbox.targets(of: content, navigation).map { "\(navigation)→\(marks[$0] ?? "")" }
                }
                return FieldService.line(set, content.values, links)
            }
        }
    }
}

extension FieldService {
    /// Returns an entity as a line, the same for a store and the service.
    static func line(_ set: String, _ values: PropertyValues, _ links: [String]) -> String {
        let properties = values.filter { $0.value != .null }.map { "\($0.name)=\($0.value)" }.sorted()
        return ([set] + properties + links.sorted()).joined(separator: " ")
    }

    /// Returns the entities of a store and their links as lines, without client-only values.
    static func lines(
        of store: LocalStore, isolation: isolated (any Actor)? = #isolation
    ) async throws(TidelogError) -> [String] {
        var lines: [String] = []
        for set in sets {
            let navigations = navigations(of: set)
            let expansion = navigations.isEmpty ? "" : "?$expand=" + navigations.joined(separator: ",")
            for entity in try await store.query(set + expansion).entities {
                let links = entity.expanded.flatMap { level in
                    level.entities.map { "\(level.navigation)→\($0.values["Mark"]?.stringValue ?? "")" }
                }
                var values = entity.values
                values[clientOnly] = nil
                lines.append(line(set, values, links))
            }
        }
        return lines
    }
}
