import Logging
import NorthwindService
import Synchronization
import Testing
import Tidelog

/// The sample under *Debugging*. `Logger.shared(named:)` of the guide corresponds to the service's own logger.
@Suite struct TracingSamples {
    private final class Lines: Sendable {
        private let state = Mutex<[String]>([])
        var text: String { state.withLock { $0.joined(separator: "\n") } }
        func add(_ line: String) { state.withLock { $0.append(line) } }
    }

    private struct Recorder: LogHandler {
        let lines: Lines
        var logLevel: Logger.Level = .info
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.add("\(event.message)") }
    }

    private func traced(_ change: (DataService) -> Void) async throws -> String {
        let service = try await Trade().sample.server
        let lines = Lines()
        service.logger = Logger(label: "SAP.OData") { _ in Recorder(lines: lines) }
        change(service)
        let customer = Customer(withDefaults: false)
        customer.customerID = "SECRT"
        customer.companyName = "Confidential Ltd"
        try await service.createEntity(customer, headers: ["X-Api-Key": "open sesame"])
        return lines.text
    }

    @Test func `sample tracing: the complete traffic is shown`() async throws {
        let text = try await traced { service in
            service.logger.logLevel = .debug

            service.traceRequests = true
            service.prettyTracing = true
            service.traceWithData = true
        }
        #expect(text.contains("POST http://samples.test/v4/Customers"))
        #expect(text.contains("returned 201"))
        #expect(text.contains("  \"CompanyName\": \"Confidential Ltd\""))
        #expect(text.contains("X-Api-Key: …"))
        #expect(!text.contains("open sesame"))
        #expect(text.contains("application/json"))
    }

    @Test func `without traceWithData no values are logged`() async throws {
        let text = try await traced { service in
            service.logger.logLevel = .debug
            service.traceRequests = true
        }
        #expect(text.contains("POST http://samples.test/v4/Customers, "))
        #expect(!text.contains("Confidential"))
    }

    @Test func `no requests are logged unless the logger's level is debug`() async throws {
        let text = try await traced { service in
            service.traceRequests = true
            service.traceWithData = true
        }
        #expect(text.isEmpty)
    }

    @Test func `an opened store traces its uploads`() async throws {
        let trade = try await Trade()
        let lines = Lines()
        trade.service.logger = Logger(label: "SAP.OData") { _ in Recorder(lines: lines) }
        trade.service.logger.logLevel = .debug
        trade.service.traceRequests = true
        try await trade.service.createEntity(Customer())
        #expect(lines.text.isEmpty)
        try await trade.sample.synchronize()
        #expect(lines.text.contains("POST http://samples.test/v4/$batch"))
    }
}
