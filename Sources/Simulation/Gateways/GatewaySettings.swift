import EDM
import GatewayCore
import ODataSandbox
import ODataWire
import SeededRandom

/// The gateway of a run, which the seed determines.
struct GatewaySettings: Sendable {
    /// The number of nodes; 0 if there is no gateway.
    let nodes: Int
    /// The queries that the gateway answers from shared feeds.
    let feeds: [String]
    /// The time for which a feed is fresh, in milliseconds.
    let refreshMilliseconds: Int64
    let authorization: FeedSettings.Authorization
    /// Whether the clients mark their requests as repeatable, so that the gateway keeps them in its ledger.
    let usesLedger: Bool
    /// Whether the service supports repeatable requests as well.
    let isServiceRepeatable: Bool
    /// The largest number of rows on a page of a feed.
    let pageRows: Int

    static let none = GatewaySettings()

    private init() {
        (nodes, feeds, refreshMilliseconds, authorization) = (0, [], 0, .any)
        (usesLedger, isServiceRepeatable, pageRows) = (false, false, 1)
    }

    /// - Parameter isPresent: Whether there is a gateway; nil leaves it to the seed.
    init(seed: UInt64, isPresent: Bool?) {
        // Not the random numbers of the run, so that the rest of the run does not depend on the gateway.
        var random = SeededRandom(seed: seed &* 41 &+ 7)
        let drawn = random.chance(20)
        guard isPresent ?? drawn else {
            self = .none
            return
        }
        nodes = 1 + random.below(3)
        feeds = FieldService.queries.map(\.1).filter { _ in random.chance(60) }
        refreshMilliseconds = [1_000, 60_000, 900_000][random.below(3)]
        authorization = random.chance(50) ? .probe : .any
        usesLedger = random.chance(85)
        isServiceRepeatable = random.chance(20)
        pageRows = [2, 100][random.below(2)]
    }

    static func of(_ seed: UInt64, _ options: Simulation.Options) -> GatewaySettings {
        // The history is judged without the delay of feeds. A seeded bug elsewhere is found without a gateway.
        if options.recordsHistory { return .none }
        let isPresent = options.plants.isEmpty ? options.hasGateway : options.plants.contains(where: \.isOfGateway)
        return GatewaySettings(seed: seed, isPresent: isPresent)
    }

    var line: String {
        let ledger = usesLedger ? "a ledger" : "no ledger"
        let feeds = feeds.isEmpty ? "no feeds" : "feeds \(feeds), fresh for \(refreshMilliseconds / 1_000) s"
        return "\(nodes) gateway nodes, \(ledger), \(feeds)"
    }

    /// The service as the devices know it.
    func adjusted(_ options: ServiceOptions, _ version: ODataVersion) -> ServiceOptions {
        guard nodes > 0 else { return options }
        var adjusted = options
        adjusted.repeatability = usesLedger ? (version.isLegacy ? .sap : .oasis) : .none
        // The gateway refuses a request whose outcome it does not know, so that the devices have to read.
        if adjusted.doubts == .ask { adjusted.doubts = .evidence }
        adjusted.correlationProperties = [:]
        for set in FieldService.sets where adjusted.doubts == .correlation {
            adjusted.correlationProperties[set] = "Mark"
        }
        return adjusted
    }

    /// Changes the capabilities of the service.
    func adjust(_ sandbox: inout Sandbox, _ version: ODataVersion) {
        guard nodes > 0 else { return }
        sandbox.options.repeatability = isServiceRepeatable ? Repeatability(version.isLegacy ? .sap : .oasis) : nil
    }
}
