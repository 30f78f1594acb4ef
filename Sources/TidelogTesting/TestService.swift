public import EDM
public import HTTPTypes
public import ODataSandbox
import ODataWire
import Synchronization
public import Transport

/// An OData service in the process of a test, with the metadata of the app's own service.
///
/// ```swift
/// let service = try TestService(metadata: Array(Data(contentsOf: metadataFile)))
/// try service.insert(into: "Customers", ["Name": .string("Ada")])
/// let parameters = OfflineODataParameters(storePath: storePath, transport: service, durability: .none)
/// let provider = OfflineODataProvider(serviceRoot: service.serviceRoot, parameters: parameters)
/// ```
///
/// It is the sandbox of Tidelog: it answers queries, enforces the rules of the metadata, executes batches atomically and
/// assigns keys. It does not have the business rules of the real service; a test rejects requests by ``refuse(_:)``.
public final class TestService: HTTPTransport {
    private struct TestState {
        var sandbox: Sandbox
        var requests: [String] = []
        var isReachable = true
    }

    private let state: Mutex<TestState>
    /// The root of the service, for the provider. It has no meaning outside of this object.
    public let serviceRoot: String
    private let isLegacy: Bool

    /// Creates a service without entities.
    ///
    /// - Parameters:
    ///   - metadata: the metadata document of the service, V2 or V4, in XML or JSON.
    ///   - generatedKeys: the entity sets whose integer key the service assigns; by default all sets whose key is one
    ///     integer.
    ///   - etags: the entity sets whose entities have an ETag, so that conflicts are detected.
    /// - Throws: `CSDLError` if the document is not a metadata document.
    public init(metadata: [UInt8], generatedKeys: Set<String>? = nil, etags: Set<String> = []) throws(CSDLError) {
        let model = try CSDLReader.read(metadata)
        var sandbox = try Sandbox(
            v4Metadata: metadata, v2Metadata: metadata,
            configuration: SandboxConfiguration(model, generatedKeys: generatedKeys, etags: etags))
        sandbox.origin = "http://service.test"
        // The transport keeps no cookies for a token.
        sandbox.options.requiresToken = false
        isLegacy = model.version.isLegacy
        serviceRoot = "http://service.test/\(isLegacy ? "v2" : "v4")/"
        state = Mutex(TestState(sandbox: sandbox))
    }

    // MARK: Content

    /// Inserts an entity, as another client would.
    ///
    /// - Throws: an error if there is no such set, or if the values violate the metadata.
    public func insert(into set: String, _ values: PropertyValues) throws {
        try state.withLock { try $0.sandbox.insert(into: set, values) }
    }

    /// Returns the values of all entities of a set, in the order of their creation.
    public func entities(of set: String) -> [PropertyValues] {
        state.withLock { $0.sandbox.contents(of: set).map(\.values) }
    }

    /// Executes a request of another client, for example to make a conflict:
    /// `service.send("PATCH", "Orders(1)", #"{"Note":"theirs"}"#)`.
    ///
    /// - Parameter path: the path relative to the service root.
    /// - Returns: The status and the body of the response.
    @discardableResult
    public func send(_ method: String, _ path: String, _ body: String = "") -> (status: Int, body: String) {
        var headers = HTTPHeaders()
        headers.add(name: "If-Match", value: "*")
        if !body.isEmpty { headers.add(name: "Content-Type", value: "application/json") }
        let request = WireRequest(
            method: method, url: "/\(isLegacy ? "v2" : "v4")/\(path)", headers: headers, body: Array(body.utf8))
        let response = state.withLock { $0.sandbox.handle(request) }
        return (response.status, String(decoding: response.body, as: UTF8.self))
    }

    /// Implements a function or an action. The response to one without an implementation is 501.
    ///
    /// The module `ODataSandbox`, a product, has the types of the implementation. Declare it with its type, because the
    /// compiler of Swift 6.3 crashes for some closures with `throws(SandboxError)` that are arguments:
    /// `let complete: SandboxOperation = { call throws(SandboxError) in … }`.
    ///
    /// - Parameter name: the name of the import, or the last part of the name of a bound function or action.
    public func implement(_ name: String, with operation: @escaping SandboxOperation) {
        state.withLock { $0.sandbox.operations[name] = operation }
    }

    // MARK: Requests and faults

    /// The requests of the app so far, such as `GET Customers` or `POST $batch`, without query options.
    public var requests: [String] { state.withLock { $0.requests } }

    /// A Boolean value that indicates whether the service can be reached. If `false`, requests fail as without a
    /// network.
    public var isReachable: Bool {
        get { state.withLock { $0.isReachable } }
        set { state.withLock { $0.isReachable = newValue } }
    }

    /// Rejects a change of the app that is sent in a batch, before it has any effect.
    ///
    /// Each refusal applies once, in the order in which they were added.
    public func refuse(_ refusal: TestRejection) {
        let error = JSONText.error(code: refusal.code, message: refusal.message, isLegacy: isLegacy)
        add(
            .refuse(status: refusal.status, headers: ["Content-Type": "application/json"], body: Array(error.utf8)),
            refusal.method, refusal.urlPart, part: .any)
    }

    /// Loses the response to the next batch: the service executes it, and the app does not receive the outcome.
    public func loseNextAnswer() { add(.dropAnswer, "POST", "$batch", part: nil) }

    /// Answers the next requests as a busy service, with the status 503.
    public func beBusy(times: Int = 1) {
        add(.refuse(status: 503), nil, "", part: nil, times: times)
    }

    private func add(
        _ effect: Fault.Effect, _ method: String?, _ urlPart: String, part: Fault.BatchScope?, times: Int = 1
    ) {
        let fault = Fault(effect, times: times, method: method, urlPart: urlPart, part: part)
        state.withLock { $0.sandbox.faults.append(fault) }
    }

    // MARK: Transport

    /// Processes a request in the sandbox and returns its response.
    ///
    /// - Throws: `unreachable` while ``isReachable`` is `false`; `disconnected` if a fault cuts the connection.
    public func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        var headers = HTTPHeaders()
        for field in request.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        let wire = WireRequest(
            method: request.method.rawValue, url: request.path ?? "/", headers: headers, body: body)
        let reply = state.withLock { state -> Reply? in
            guard state.isReachable else { return nil }
            state.requests.append("\(wire.method) \(wire.url.dropFirst(4).prefix { $0 != "?" })")
            return state.sandbox.reply(to: wire)
        }
        switch reply {
        case .none: throw TransportError(.unreachable, "There is no network.", mayHaveBeenSent: false)
        case .cut?, .cutOff?:
            throw TransportError(.disconnected, "The connection was cut.", mayHaveBeenSent: true)
        case .response(let answer)?:
            var response = HTTPResponse(status: .init(code: answer.status))
            for field in answer.headers.fields {
                guard let name = HTTPField.Name(field.name) else { continue }
                response.headerFields.append(HTTPField(name: name, value: field.value))
            }
            return (response, answer.body)
        }
    }
}

/// A rejection by a ``TestService``.
public struct TestRejection: Sendable, Hashable {
    /// The HTTP status of the response.
    public var status: Int
    /// The code of the OData error.
    public var code: String
    /// The message of the OData error.
    public var message: String
    /// The method of the rejected request; `nil` for any.
    public var method: String?
    /// A text that the URL of the rejected request contains; empty for any.
    public var urlPart: String

    /// Creates a rejection with the given error; by default of any request, with status 422.
    public init(
        status: Int = 422, code: String = "Refused", message: String, method: String? = nil, urlPart: String = ""
    ) {
        (self.status, self.code, self.message, self.method, self.urlPart) = (status, code, message, method, urlPart)
    }
}

/// The bodies of errors.
private enum JSONText {
    static func error(code: String, message: String, isLegacy: Bool) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("error")
        writer.beginObject()
        writer.name("code")
        writer.string(code)
        writer.name("message")
        if isLegacy {
            writer.beginObject()
            writer.name("value")
            writer.string(message)
            writer.endObject()
        } else {
            writer.string(message)
        }
        writer.endObject()
        writer.endObject()
        return writer.text
    }
}
