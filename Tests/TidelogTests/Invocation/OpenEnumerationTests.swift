import Foundation
import HTTPTypes
import ODataSandbox
import TestSupport
import Testing
import Tidelog
import Transport

/// Generated classes, and enumeration members that the service adds later.
@Suite struct OpenEnumerationTests {
    private final class OpenService: DataService, @unchecked Sendable {
        override var hasOpenEnumerations: Bool? { true }
    }

    private final class ClosedService: DataService, @unchecked Sendable {
        override var hasOpenEnumerations: Bool? { false }
    }

    /// Returns a service whose metadata have an additional member from the second reading on.
    private func service<Service: DataService>(
        _ make: (any DataServiceProvider) -> Service
    ) async throws -> (Service, SandboxTransport) {
        let inner = SandboxTransport(try Sandbox.airports())
        let transport = HookedTransport(inner) { request, _ in
            guard request.path?.hasSuffix("$metadata") == true, !inner.requests.isEmpty,
                let (response, body) = try? await inner.send(request, body: [])
            else { return nil }
            let old = #"<Member Name="Large" Value="1"/>"#
            let text = String(decoding: body, as: UTF8.self)
                .replacingOccurrences(of: old, with: old + #"<Member Name="Huge" Value="2"/>"#)
            return (response, Array(text.utf8))
        }
        let service = make(OnlineODataProvider(serviceRoot: "http://air.test/v4/", transport: transport))
        try await service.loadMetadata()
        return (service, inner)
    }

    @Test func `classes with open enumerations accept an added member`() async throws {
        let (service, _) = try await service { OpenService(provider: $0) }
        let refresh = try await service.refreshMetadata()
        #expect(refresh.difference.changes.map(\.path) == ["Air.Size/Huge"])
    }

    @Test func `classes with closed enumerations refuse an added member`() async throws {
        let (service, _) = try await service { ClosedService(provider: $0) }
        let error = await #expect(throws: TidelogError.self) { try await service.refreshMetadata() }
        #expect(error?.code == .incompatibleMetadata)
    }

    @Test func `classes with closed enumerations refuse a policy that approves an added member before any request`()
        async throws
    {
        let (service, transport) = try await service { ClosedService(provider: $0) }
        transport.forgetRequests()
        let error = await #expect(throws: TidelogError.self) {
            try await service.refreshMetadata(CompatibilityPolicy(hasOpenEnumerations: true))
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("-open:enumerations") == true)
        #expect(transport.requests.isEmpty)
    }

    @Test func `without classes, the policy decides about an added member`() async throws {
        let (service, _) = try await service { DataService(provider: $0) }
        await #expect(throws: TidelogError.self) { try await service.refreshMetadata() }
        try await service.refreshMetadata(CompatibilityPolicy(hasOpenEnumerations: true))
        #expect(try service.metadata.enumerationType(named: "Air.Size")?.members.count == 3)
    }
}
