import ODataSandbox
import ODataWire

/// The sandbox with the sessions of its devices and its history.
struct SimulatedService {
    private(set) var sandbox: Sandbox
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
