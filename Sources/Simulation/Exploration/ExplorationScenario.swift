import ODataSandbox
import ODataWire

/// A system to explore: the operations of its devices, and the bounds of the exploration.
package struct ExplorationScenario: Sendable {
    package let name: String
    /// The operations of each device, in order.
    let work: [[ExploredOperation]]
    /// Whether a gateway with a ledger is between the devices and the service, which supports no repeatable requests.
    let hasGateway: Bool
    /// The number of uploads of each device while faults are possible.
    let uploads: Int
    /// The number of faults of a run.
    package let faults: Int
    /// A planted defect, which shows that the invariants detect it.
    package var plant: PlantedDefect?

    /// A defect of the explored system.
    package enum PlantedDefect: Sendable, Hashable {
        /// The ledger is lost with the process of the gateway.
        case forgetfulLedger
        /// The ledger forgets the outcomes of other clients when a client sends its next request.
        case crowdedLedger
    }

    static let publicRoot = "http://gateway.test/odata/"

    var root: String { hasGateway ? Self.publicRoot + "field/" : FieldService.origin + "/v4/" }

    var options: ServiceOptions {
        var options = ServiceOptions()
        options.repeatability = hasGateway ? .oasis : .none
        return options
    }

    var sandbox: Sandbox { FieldService.seeded }

    package static func all(faults: Int) -> [ExplorationScenario] {
        func scenario(_ name: String, _ work: [[ExploredOperation]], uploads: Int = 2) -> [ExplorationScenario] {
            [true, false].map {
                ExplorationScenario(
                    name: name + ($0 ? ", with a gateway" : ", without a gateway"), work: work, hasGateway: $0,
                    uploads: uploads, faults: faults)
            }
        }
        return scenario("two devices create", [[.create("a")], [.create("b")]])
            + scenario("two devices update one entity", [[.update("a")], [.update("b")]])
            + scenario("one device creates twice", [[.create("a"), .create("b")]])
            + scenario("one device creates and updates", [[.createLinked("a"), .update("b")]])
            + scenario("a change set against an update", [[.createLinked("a")], [.update("b")]])
    }
}
