import Foundation
import ODataWire
import OfflineStore
import SeededRandom
import TestSupport
import Testing

/// The gateway as a process with its SQLite file, ended by `kill -9` at each step of an upload and started again.
@Suite(.serialized, .timeLimit(.minutes(10))) struct KillTests {
    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `a signal ends the gateway in an orderly way, and only its user can read the ledger`(_ signal: Int32) throws {
        let gateway = try GatewayProcess(["v4": "http://127.0.0.1:1/v4/"])
        try gateway.start()
        var status = stat()
        stat(gateway.ledger, &status)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(gateway.terminate(signal) == 0)
    }

    /// The last thing that happens before the kill.
    enum Step: CaseIterable, CustomTestStringConvertible {
        /// A part of the request has arrived.
        case requestInPart
        /// The row is durable, the request has left; the service does not get it.
        case forwarded
        /// The service has executed it; nothing of its response has arrived.
        case executed
        /// A part of the response of the service has arrived.
        case answerInPart
        /// The outcome is recorded; nothing of the response reaches the client.
        case recorded
        /// A part of the response has reached the client.
        case answered

        var testDescription: String { "\(self)" }
        var isAtClient: Bool { [.requestInPart, .recorded, .answered].contains(self) }
        var plan: CutProxy.Plan {
            switch self {
            case .requestInPart: .cutRequest(900)
            case .forwarded: .holdRequest
            case .executed, .recorded: .holdAnswer(0)
            case .answerInPart, .answered: .holdAnswer(300)
            }
        }
    }

    @Test(arguments: ["v2", "v4"], Step.allCases)
    func `the gateway is killed at a step`(_ version: String, _ step: Step) async throws {
        let world = try await World(version)
        for mark in 0..<3 {
            try await world.device.change(mark)
            let proxy = step.isAtClient ? world.clientProxy : world.originProxy
            let held = proxy.held
            proxy.plan(step.plan)
            let upload = Task { [device = world.device] in try await device.drain(uploads: 1) }
            var waited = 0
            while proxy.held == held, waited < 200, step != .requestInPart || proxy.isPending {
                try await Task.sleep(for: .milliseconds(20))
                waited += 1
            }
            world.node.kill()
            world.clientProxy.breakAll()
            world.originProxy.breakAll()
            _ = try await upload.value
            try world.node.start()
            let errors = try await world.device.drain()
            let open = try await world.device.open()
            try #require(open == [], "\(errors)")
        }
        try await world.check(marks: 3)
    }

    @Test(arguments: ["v2", "v4"])
    func `the gateway is killed at random moments`(_ version: String) async throws {
        let seed = UInt64.testSeed()
        var generator = seed
        let world = try await World(version)
        let marks = 25
        for mark in 0..<marks {
            try await world.device.change(mark)
            let upload = Task { [device = world.device] in try await device.drain(uploads: 1) }
            generator = generator &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            try await Task.sleep(for: .milliseconds(Int(generator >> 33) % 30))
            world.node.kill()
            _ = try await upload.value
            try world.node.start()
            let errors = try await world.device.drain()
            let open = try await world.device.open()
            try #require(open == [], "seed \(seed): \(errors)")
        }
        try await world.check(marks: marks)
        print("gateway kills: \(version), \(marks) kills, seed \(seed)")
    }

    /// A device, a proxy, the gateway, a proxy, the service.
    private struct World {
        let sandbox: SandboxServer
        let clientProxy: CutProxy
        let originProxy: CutProxy
        let node: GatewayProcess
        let device: Device
        private let before: Int

        init(_ version: String) async throws {
            sandbox = try SandboxServer(isReused: false)
            originProxy = try CutProxy(to: sandbox.port)
            let origin = "http://127.0.0.1:\(originProxy.port)"
            let port = try LoopbackPort()
            clientProxy = try CutProxy(to: port.number)
            node = try GatewayProcess(
                ["v2": "\(origin)/v2/", "v4": "\(origin)/v4/"], port: port, publicPort: clientProxy.port,
                settings: "origin_timeout = 1\norigin_margin = 0")
            try node.start()
            device = try await Device(
                root: "http://127.0.0.1:\(clientProxy.port)/odata/", version,
                version == "v2" ? ServiceOptions(repeatability: .sap) : nil)
            before = try await sandbox.orderVersion()
        }

        /// Each change is at the service once, and the device knows it.
        func check(marks: Int) async throws {
            let expected = (0..<marks).map { "mark \($0)" }.sorted()
            for (set, property) in [("Visits", "Subject"), ("Suppliers", "Name")] {
                #expect(try await sandbox.values(set, property).filter { $0.hasPrefix("mark") } == expected)
                #expect(try await device.local(set, property).filter { $0.hasPrefix("mark") } == expected)
            }
            #expect(try await sandbox.orderVersion() - before == marks)
            node.kill()
            clientProxy.stop()
            originProxy.stop()
        }
    }
}
