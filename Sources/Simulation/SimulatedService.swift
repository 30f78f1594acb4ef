import ODataSandbox
import ODataWire

/// The sandbox with the sessions of its devices, and what it has ever done.
struct SimulatedService {
    private(set) var sandbox: Sandbox
    private(set) var ledger = Ledger()
    /// By device: a transport keeps cookies.
    private var cookies: [Int: [String: String]] = [:]

    init(_ sandbox: Sandbox) {
        self.sandbox = sandbox
        ledger.look(at: sandbox)
    }

    /// Is again what it was, but for having been something else.
    mutating func forget(since before: SimulatedService) {
        sandbox = before.sandbox
        ledger.look(at: sandbox)
    }

    /// - Parameter fault: one that hits this request, and leaves it an answer.
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
            guard case .response(let answer) = reply else { preconditionFailure("\(fault) leaves no answer") }
            response = answer
        } else {
            response = sandbox.handle(request)
        }
        for field in response.headers.values("Set-Cookie") {
            let pair = field.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { cookies[device, default: [:]][String(pair[0])] = String(pair[1]) }
        }
        // What was accepted for later may be done when somebody asks for it.
        if request.method != "GET" || sandbox.options.asynchrony != nil { ledger.look(at: sandbox) }
        return response
    }
}
