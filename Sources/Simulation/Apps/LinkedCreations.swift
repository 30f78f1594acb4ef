import EDM
import OfflineStore
import Operations
import SeededRandom

/// The workload of an app that creates two linked entities in one change set, and downloads after a failed upload.
///
/// A response that is lost leaves both creations in doubt, and a download then delivers both entities before the next
/// upload searches for them. It has random numbers of its own, so that a run without these calls does not depend on
/// them.
struct LinkedCreations {
    /// The percentage of calls that create linked entities; 0 in half of the runs.
    private let share: Int
    private var random: SeededRandom

    /// The start of the marks of these entities. Its words have enough bits of evidence for any store.
    static let mark = "newly-linked-pair-"

    /// - Parameter isUsed: Whether the run may have such calls.
    init(seed: UInt64, isUsed: Bool) {
        random = SeededRandom(seed: seed &* 61 &+ 23)
        let drawn = [0, 0, 15, 40][random.below(4)]
        share = isUsed ? drawn : 0
    }

    /// Returns whether the next call of the app creates linked entities.
    mutating func isNext() -> Bool { share > 0 && random.chance(share) }

    /// Returns whether the app downloads although its upload has failed, or before its next upload.
    mutating func downloadsFirst() -> Bool { share > 0 && random.chance(50) }

    /// Returns a change set. The link is a part of the second creation, or an operation of its own.
    mutating func calls(of device: Device) -> [Intent] {
        let isOwn = random.chance(50)
        switch random.below(3) {
        case 0:
            let customer = draft(0, "Customers", device)
            return linked(customer, draft(1, "Orders", device), "Customer", isOwn)
        case 1:
            let order = draft(0, "Orders", device)
            let item = draft(1, "Items", device)
            // An item without an order is refused, so the link is no operation of its own.
            guard isOwn else { return linked(order, item, "Order", false) }
            let parent = Intent.Parent(entity: .draft(0), navigation: "Items")
            return [.create(order, in: nil), .create(item, in: parent)]
        default:
            let label = draft(0, "Labels", device)
            return linked(label, draft(1, "Customers", device), "Labels", isOwn)
        }
    }

    private func linked(
        _ first: EntityDraft, _ second: EntityDraft, _ navigation: String, _ isOwn: Bool
    ) -> [Intent] {
        var second = second
        guard isOwn else {
            second.bindings = [BindingDraft(navigation: navigation, targets: [.draft(0)])]
            return [.create(first, in: nil), .create(second, in: nil)]
        }
        let link: Intent =
            navigation == "Labels"
            ? .createLink(from: .draft(1), navigation: navigation, to: .draft(0))
            : .updateLink(from: .draft(1), navigation: navigation, to: .draft(0))
        return [.create(first, in: nil), .create(second, in: nil), link]
    }

    private mutating func draft(_ number: Int, _ set: String, _ device: Device) -> EntityDraft {
        var values: PropertyValues = ["Mark": .string(device.name(Self.mark + "m"))]
        if random.chance(30) { values["Note"] = .string(device.name("v")) }
        return EntityDraft(number: number, set: set, type: FieldService.type(of: set), values: values)
    }
}
