import EDM
import Foundation
import Gateway
import GatewayCore
import ODataWire
import OfflineStore
import SeededRandom
import SyncCore
import SyncEngine
import Synchronization
import TestSupport
import Testing

/// Three gateway processes with one database, a balancer in front of them, and devices that upload and download, while
/// nodes are killed, connections are cut, and PostgreSQL crashes.
@Suite(
    .serialized, .timeLimit(.minutes(60)),
    .enabled(if: PostgresServer.isInstalled, "skipped: PostgreSQL is not installed"))
struct NodeTests {
    /// The time in which faults happen; `TIDELOG_NODES` sets the number of seconds.
    private static let duration = Double(ProcessInfo.processInfo.environment["TIDELOG_NODES"] ?? "") ?? 15

    /// A gateway process that can be started again on its port.
    private final class Node: Sendable {
        private let port: LoopbackPort
        private let configuration: String
        private let process = Mutex<ChildProcess?>(nil)

        init(
            _ directory: TemporaryDirectory, port: LoopbackPort, publicPort: Int, origin: String,
            _ database: PostgresSettings
        ) {
            self.port = port
            configuration = "\(directory.path)/\(port.number).ini"
            var text = """
                [gateway]
                listen = 127.0.0.1:\(port.number)
                public_root = http://127.0.0.1:\(publicPort)/odata/
                storage = \(database.parameters)
                postgres_schema = \(database.schema)
                postgres_connections = 4

                """
            for version in ["v2", "v4"] {
                text +=
                    "[endpoint]\nname = \(version)\nroot = \(origin)/\(version)/\norigin_timeout = 2\norigin_margin = 1\n"
                for set in ["Orders", "Suppliers", "Visits"] {
                    text +=
                        "[defining_query]\nname = \(version)\(set)\nquery = \(set)\nis_shared_data = Y\nrefresh_interval = 0\n"
                }
            }
            TemporaryDirectory.write(Array(text.utf8), to: configuration)
        }

        func start() throws {
            let started = try ChildProcess("tidelog-gateway", ["serve", "--config", configuration], lines: 3)
            process.withLock { $0 = started }
        }

        func kill() {
            process.withLock { process in
                process?.kill()
                process = nil
            }
        }

        func terminate() -> Int32? { process.withLock { $0 }?.terminate() }
    }

    /// The number of faults of each kind.
    private struct Faults {
        var kills = 0
        var crashes = 0
        var cuts = 0
    }

    private final class World: Sendable {
        let directory = TemporaryDirectory()
        let database: PostgresServer
        let sandbox: SandboxServer
        let balancer: CutProxy
        let originProxy: CutProxy
        let nodes: [Node]
        let isOver = Locked(false)

        init() throws {
            database = try PostgresServer()
            sandbox = try SandboxServer(isReused: false)
            let ports = try (0..<3).map { _ in try LoopbackPort() }
            balancer = try CutProxy(balancing: ports.map(\.number))
            originProxy = try CutProxy(to: sandbox.port)
            let (directory, database, publicPort) = (directory, database, balancer.port)
            let origin = "http://127.0.0.1:\(originProxy.port)"
            nodes = ports.map {
                Node(
                    directory, port: $0, publicPort: publicPort, origin: origin,
                    database.settings(schema: "gateway"))
            }
            for node in nodes { try node.start() }
        }

        func device(_ number: Int) async throws -> Device {
            let isLegacy = number == 2
            return try await Device(
                root: "http://127.0.0.1:\(balancer.port)/odata/", isLegacy ? "v2" : "v4",
                isLegacy ? ServiceOptions(repeatability: .sap, tellsDeletionsInV2: true) : nil)
        }

        /// The states of the feeds, for a failure.
        func feeds() async throws -> [String] {
            let storage = try await PostgresFeedStorage(database.settings(schema: "gateway"))
            return try await storage.list().map { identity, head in
                let age = (head.readBegan ?? 0) - Int64(Date().timeIntervalSince1970 * 1_000)
                return
                    "\(identity.endpoint) \(identity.query) \(head.generation) \(head.rows) \(age) \(head.trouble ?? "")"
            }
        }

        func stop() {
            for node in nodes { node.kill() }
            balancer.stop()
            originProxy.stop()
        }
    }

    @Test func `SIGTERM ends a node in an orderly way`() async throws {
        let world = try World()
        #expect(world.nodes.map { $0.terminate() } == [0, 0, 0])
        world.stop()
    }

    @Test func `each change is executed once, although nodes are killed and PostgreSQL crashes`() async throws {
        let world = try World()
        let devices = try await [world.device(0), world.device(1), world.device(2)]
        let faults = Task { try await Self.breakThings(world, seconds: Self.duration) }
        let marks = try await withThrowingTaskGroup(of: [String].self) { group in
            for (number, device) in devices.enumerated() {
                group.addTask { try await Self.work(device, first: (number + 1) * 100_000, world) }
            }
            return try await group.reduce([], +).sorted()
        }
        let counts = try await faults.value
        var lost = 0
        var duplicates = 0
        for (set, property) in [("Visits", "Subject"), ("Suppliers", "Name")] {
            let found = try await world.sandbox.values(set, property).filter { $0.hasPrefix("mark") }
            lost += Set(marks).subtracting(found).count
            duplicates += found.count - Set(found).count
            #expect(
                found == marks, "\(set): missing \(Set(marks).subtracting(found)), \(found.count) of \(marks.count)")
        }
        let extent = "3 nodes, 3 devices, \(Int(Self.duration)) s, \(counts.kills) kills, \(counts.crashes) crashes"
        print(
            "gateway nodes: \(extent) of PostgreSQL, \(counts.cuts) cuts, \(marks.count * 2) creates,",
            "\(lost) lost, \(duplicates) duplicates")
        try await Self.checkDownloads(devices, world)
        world.stop()
    }

    /// Kills a node every second or two, cuts connections, and lets PostgreSQL crash twice.
    private static func breakThings(_ world: World, seconds: Double) async throws -> Faults {
        var faults = Faults()
        var random = SeededRandom(seed: .testSeed())
        let start = ContinuousClock.now
        func passed() -> Double { start.duration(to: .now) / .seconds(1) }
        while passed() < seconds {
            try await Task.sleep(for: .milliseconds(random.number(20...150)))
            let cut = random.number(0...1_500)
            let plan: CutProxy.Plan = Bool.random(using: &random) ? .cutRequest(cut) : .cutAnswer(cut / 2)
            (Bool.random(using: &random) ? world.balancer : world.originProxy).plan(plan)
            faults.cuts += 1
            if passed() > Double(faults.kills + 1) * 1.3, let node = random.pick(world.nodes) {
                node.kill()
                faults.kills += 1
                try await Task.sleep(for: .milliseconds(random.number(0...300)))
                try node.start()
            }
            if faults.crashes < 2, passed() > seconds * Double(faults.crashes + 1) / 3 {
                try world.database.crash()
                faults.crashes += 1
            }
        }
        world.balancer.plan(nil)
        world.originProxy.plan(nil)
        world.isOver.withLock { $0 = true }
        return faults
    }

    /// Creates entities and uploads them until the faults end, and then until nothing is pending.
    ///
    /// - Returns: The names of the entities.
    private static func work(_ device: Device, first: Int, _ world: World) async throws -> [String] {
        var marks: [String] = []
        while !world.isOver.withLock({ $0 }) {
            let mark = first + marks.count
            // Only content that hardly repeats is evidence of an entity whose response was lost.
            let name = "mark \(mark) \(String(UInt64.random(in: .min ... .max), radix: 16))"
            marks.append(name)
            try await device.create(
                "Visits", ["VisitID": .guid(GuidValue(high: 7, low: UInt64(mark))), "Subject": .string(name)])
            try await device.create("Suppliers", ["Name": .string(name)])
            _ = try await device.drain(uploads: 2)
            // A device that downloads while a create is in doubt is another subject.
            if mark.isMultiple(of: 5), try await device.open().isEmpty { _ = try? await device.engine.download() }
        }
        var errors: [TidelogError] = []
        for _ in 0..<30 {
            errors = try await device.drain(uploads: 4)
            if try await device.open().isEmpty { break }
            try await Task.sleep(for: .milliseconds(500))
        }
        // A create whose response was lost, and that the device cannot find for certain, is held in doubt. It is not lost.
        let open = try await device.open()
        #expect(open.allSatisfy { $0.contains("inDoubt") }, "\(open) \(errors)")
        if !open.isEmpty {
            print(
                "gateway nodes: a \(device.version) device holds \(open.count) creates in doubt, such as",
                "\(open.prefix(2)); errors of its last uploads: \(errors.suffix(2))")
        }
        return marks
    }

    /// After the faults, each device has the rows of the service.
    private static func checkDownloads(_ devices: [Device], _ world: World) async throws {
        for (number, device) in devices.enumerated() {
            var differences: [String] = ["not downloaded"]
            for _ in 0..<10 where !differences.isEmpty {
                // Two readings of a feed begin at least a second apart, and a killed node has a lease.
                try await Task.sleep(for: .milliseconds(1_200))
                guard (try? await device.engine.download()) != nil else { continue }
                differences = []
                for (set, property) in [("Suppliers", "Name"), ("Visits", "Subject")] {
                    let (local, remote) = try await (device.local(set, property), world.sandbox.values(set, property))
                    // A create that is held in doubt occurs twice on the device.
                    if Set(local) == Set(remote) { continue }
                    let (missing, extra) = (Set(remote).subtracting(local), Set(local).subtracting(remote))
                    differences.append("\(set): \(local.count) of \(remote.count), -\(missing), +\(extra)")
                }
            }
            let feeds = differences.isEmpty ? [] : try await world.feeds()
            #expect(differences == [], "device \(number); feeds: \(feeds)")
        }
    }
}
