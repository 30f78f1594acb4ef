import Foundation
import Gateway
import GatewayCore
import ODataWire
import OfflineStore
import TestSupport
import Testing

/// A device uploads through the gateway to a service without repeatable requests, and connections break: between the
/// device and the gateway, or between the gateway and the service, one byte position after the other.
///
/// `TIDELOG_MATRIX=full` tests every byte.
@Suite(.serialized, .timeLimit(.minutes(30))) struct CutTests {
    enum Side: String, CaseIterable { case client, origin }

    private static let isFull = ProcessInfo.processInfo.environment["TIDELOG_MATRIX"] == "full"

    @Test(arguments: [("v4", Side.client, true), ("v4", .client, false), ("v2", .client, true), ("v2", .client, false)])
    func `a connection of the client is cut`(_ version: String, _ side: Side, _ cutsAnswer: Bool) async throws {
        let step = Self.isFull ? 1 : 53
        try await run(version, side, stride(from: 0, to: cutsAnswer ? 2_400 : 2_900, by: step).map { $0 }, cutsAnswer)
    }

    @Test(arguments: [("v4", Side.origin, true), ("v4", .origin, false), ("v2", .origin, true), ("v2", .origin, false)])
    func `a connection of the service is cut`(_ version: String, _ side: Side, _ cutsAnswer: Bool) async throws {
        let step = Self.isFull ? 1 : 211
        try await run(version, side, stride(from: 0, to: cutsAnswer ? 2_400 : 2_900, by: step).map { $0 }, cutsAnswer)
    }

    @Test func `a batch in JSON is cut`() async throws {
        let format = ServiceOptions(batchFormat: .json, repeatability: .oasis)
        try await run("v4", .client, stride(from: 0, to: 2_000, by: Self.isFull ? 1 : 173).map { $0 }, true, format)
        try await run("v4", .origin, stride(from: 0, to: 2_000, by: Self.isFull ? 1 : 397).map { $0 }, true, format)
    }

    private func run(
        _ version: String, _ side: Side, _ places: [Int], _ cutsAnswer: Bool, _ options: ServiceOptions? = nil
    ) async throws {
        let sandbox = try SandboxServer(isReused: false)
        let port = try LoopbackPort()
        let clientProxy = try CutProxy(to: port.number)
        let originProxy = try CutProxy(to: sandbox.port)
        let origin = "http://127.0.0.1:\(originProxy.port)"
        let gateway = try await GatewayUnderTest(
            ["v2": origin + "/v2/", "v4": origin + "/v4/"], publicPort: clientProxy.port, timeout: 700, margin: 100,
            port: port)
        let service = options ?? (version == "v2" ? ServiceOptions(repeatability: .sap) : nil)
        let device = try await Device(root: "http://127.0.0.1:\(clientProxy.port)/odata/", version, service)
        let before = try await sandbox.orderVersion()
        let proxy = side == .client ? clientProxy : originProxy
        var cuts = 0
        for (mark, bytes) in places.enumerated() {
            try await device.change(mark)
            proxy.plan(cutsAnswer ? .cutAnswer(bytes) : .cutRequest(bytes))
            let errors = try await device.drain()
            if !proxy.isPending { cuts += 1 }
            proxy.plan(nil)
            let open = try await device.open()
            try #require(open == [], "\(version) \(side) \(bytes): \(errors)")
        }
        let expected = places.indices.map { "mark \($0)" }.sorted()
        for (set, property) in [("Visits", "Subject"), ("Suppliers", "Name")] {
            #expect(try await sandbox.values(set, property).filter { $0.hasPrefix("mark") } == expected)
            #expect(try await device.local(set, property).filter { $0.hasPrefix("mark") } == expected)
        }
        #expect(try await sandbox.orderVersion() - before == places.count)
        print(
            "gateway cuts: \(version) \(side) \(cutsAnswer ? "answer" : "request") \(places.count) places, \(cuts) connections cut"
        )
        clientProxy.stop()
        originProxy.stop()
        await gateway.stop()
    }
}
