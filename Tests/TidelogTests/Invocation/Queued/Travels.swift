import ODataSandbox
import ODataWire
import TestSupport
import Tidelog

/// The travel service, and a store with all of its travels.
final class Travels {
    let transport: SandboxTransport
    let directory: TemporaryDirectory
    let provider: OfflineODataProvider
    let service: DataService

    init(_ options: ServiceOptions? = nil) async throws {
        transport = SandboxTransport(try Sandbox.travels())
        directory = try TemporaryDirectory()
        var parameters = OfflineODataParameters(storePath: directory.path, transport: transport)
        if let options { parameters.serviceOptions = options }
        provider = OfflineODataProvider(serviceRoot: "http://trip.test/v4/", parameters: parameters)
        try await provider.add(definingQuery: OfflineODataDefiningQuery(name: "Travels", query: "/Travels"))
        try await provider.open()
        try await provider.download()
        service = DataService(provider: provider)
        transport.forgetRequests()
    }

    var online: DataService {
        DataService(provider: OnlineODataProvider(serviceRoot: "http://trip.test/v4/", transport: transport))
    }

    func travel(_ number: Int, isActive: Bool = true) async throws -> EntityValue {
        try await service.executeQuery(
            DataQuery().withURL("Travels(TravelID=\(number),IsActiveEntity=\(isActive))")
        ).requiredEntity()
    }

    func newTravel(_ number: Int64, _ description: String?) throws -> EntityValue {
        let set = try service.entitySet(withName: "Travels")
        let travel = EntityValue.ofType(set.entityType)
        travel["TravelID"] = .integer(number)
        travel["IsActiveEntity"] = .boolean(false)
        if let description { travel["Description"] = .string(description) }
        return travel
    }

    /// The travels of the store, in the form of ``Sandbox/travels``.
    func local() async throws -> [String] {
        try await service.executeQuery(DataQuery().withURL("Travels")).entityList().map { travel in
            func text(_ name: String) -> String {
                switch travel[name] {
                case .integer(let number): String(number)
                case .string(let text): text
                default: "-"
                }
            }
            let isActive = travel["IsActiveEntity"] == .boolean(true)
            return
                "\(text("TravelID")) \(isActive ? "active" : "draft") \(text("Status")) \(text("Seats")) \(text("Description"))"
        }.sorted()
    }

    var remote: [String] { transport.sandbox.travels }

    /// The requests in the batches so far, as method and URL.
    var sent: [String] {
        transport.requests.flatMap { request -> [String] in
            guard request.url.hasSuffix("$batch") else { return [] }
            return String(decoding: request.body, as: UTF8.self).split(separator: "\r\n").filter {
                $0.hasSuffix(" HTTP/1.1")
            }.map { String($0.dropLast(" HTTP/1.1".count)) }
        }
    }

    /// Counts the change sets of the batches so far.
    var changeSets: Int {
        transport.requests.filter { $0.url.hasSuffix("$batch") }.reduce(0) { count, request in
            let text = String(decoding: request.body, as: UTF8.self)
            return count + text.split(separator: "\r\n").filter { $0.hasPrefix("Content-Type: multipart/mixed") }.count
        }
    }
}
