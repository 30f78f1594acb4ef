import EDM
import ODataWire
import OfflineStore
import Operations
import SeededRandom

/// Draws the changes that the user of a device makes, as random numbers determine.
struct IntentGenerator {
    let device: Device
    let version: ODataVersion
    var random: SeededRandom

    /// Returns a call of an action. In V4, half of the calls are bound to an order and declare their effect on it.
    mutating func call(_ model: EntityDataModel) -> Intent? {
        let mark = ActionDraft.Argument("mark", .value(.string(device.name("m"))))
        guard !version.isLegacy, random.chance(50) else {
            let found = try? model.invokedOperation("AddLabel", parameters: ["mark"])
            return found.map { .invoke(ActionDraft($0, [mark])) }
        }
        guard let order = any("Orders") else { return nil }
        let type = TypeReference(.entity(name: "Field.Order"))
        let remark = Value.string(device.name("v"))
        let found = try? model.invokedOperation("Field.Annotate", on: type, parameters: ["mark", "remark"])
        return found.map {
            .invoke(
                ActionDraft(
                    $0, on: .init(.entity(order), set: model.findEntitySet("Orders")),
                    [mark, .init("remark", .value(remark))],
                    effect: .update(order, changes: ["Remark": remark], bindings: [])))
        }
    }

    /// Returns a change of data, or nil if the device has no entity for it.
    ///
    /// - Parameter number: The number of the first entity that the change creates.
    mutating func change(draft number: Int) -> Intent? {
        let set = FieldService.sets[random.below(FieldService.sets.count)]
        switch random.below(100) {
        case 0..<40: return .create(draft(set, number), in: nil)
        case 40..<46:
            guard let order = any("Orders") else { return nil }
            return .create(
                EntityDraft(number: number, set: "Items", type: "Field.Item", values: values()),
                in: Intent.Parent(entity: order, navigation: "Items"))
        case 46..<74:
            let set = FieldService.editable[random.below(FieldService.editable.count)]
            guard let entity = any(set) else { return nil }
            var changes: PropertyValues = [:]
            if random.chance(60) { changes["Note"] = .string(device.name("v")) }
            if random.chance(40) || changes.isEmpty { changes["Remark"] = .string(device.name("v")) }
            return .update(entity, changes: changes, bindings: [], inline: [])
        case 74..<82:
            guard let entity = any(set) else { return nil }
            return .delete(entity)
        case 82..<90:
            guard let customer = any("Customers"), let label = any("Labels") else { return nil }
            return random.chance(65)
                ? .createLink(from: customer, navigation: "Labels", to: label)
                : .deleteLink(from: customer, navigation: "Labels", to: label)
        default:
            guard let order = any("Orders"), let customer = any("Customers") else { return nil }
            return random.chance(75)
                ? .updateLink(from: order, navigation: "Customer", to: customer)
                : .deleteLink(from: order, navigation: "Customer", to: customer)
        }
    }

    mutating func any(_ set: String) -> EntityAddress? {
        guard let links = device.links[set], !links.isEmpty else { return nil }
        return .link(links[random.below(links.count)])
    }

    private mutating func values() -> PropertyValues {
        var values: PropertyValues = ["Mark": .string(device.name("m"))]
        if random.chance(30) { values["Note"] = .string(device.name("v")) }
        return values
    }

    private mutating func draft(_ set: String, _ number: Int) -> EntityDraft {
        var draft = EntityDraft(number: number, set: set, type: FieldService.type(of: set), values: values())
        switch set {
        case "Visits":
            draft.values["VisitID"] = .guid(GuidValue(high: random.next(), low: random.next()))
        case "Orders":
            if random.chance(50), let customer = any("Customers") {
                draft.bindings.append(BindingDraft(navigation: "Customer", targets: [customer]))
            }
            if random.chance(20) {
                let items = (0...random.below(2)).map {
                    EntityDraft(number: number + 1 + $0, set: "Items", type: "Field.Item", values: values())
                }
                draft.inline.append(InlineDraft(navigation: "Items", entities: items))
            }
        case "Items":
            if let order = any("Orders") {
                draft.bindings.append(BindingDraft(navigation: "Order", targets: [order]))
            }
        case "Customers":
            if random.chance(25), let label = any("Labels") {
                draft.bindings.append(BindingDraft(navigation: "Labels", targets: [label]))
            }
        default: break
        }
        return draft
    }
}
