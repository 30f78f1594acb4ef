internal import EDM
internal import Operations
internal import SeededRandom

/// Typical commits of apps, in three shapes.
enum CommitShape: String, CaseIterable {
    case singleEdits = "single edits"
    case formSaves = "form saves"
    case bulkImport = "bulk import"

    var meaning: String {
        switch self {
        case .singleEdits: "one update of one or two properties per commit"
        case .formSaves: "a new entity of 15 to 20 properties with its links, 5 to 10 operations per commit"
        case .bulkImport: "1,000 new orders per commit"
        }
    }

    /// Returns commits with at least the given number of operations in total, the same in each run.
    func commits(operations: Int) -> [[Record]] {
        var random = SeededRandom(seed: 3)
        var commits: [[Record]] = []
        var orders = OrderGenerator()
        var count = 0
        while count < operations, let order = orders.next() {
            let commit: [Record]
            switch self {
            case .singleEdits: commit = [Self.edit(order, &random)]
            case .formSaves: commit = Self.form(order, &random)
            case .bulkImport: commit = [order.record] + orders.prefix(999).map(\.record)
            }
            if self == .bulkImport { for _ in 0..<999 { _ = orders.next() } }
            commits.append(commit)
            count += commit.count
        }
        return commits
    }

    private static func edit(_ order: Order, _ random: inout SeededRandom) -> Record {
        let entity = EntityID(rawValue: UInt64(1 + random.below(20_000)))
        var changes: [(String, Value)] = []
        switch random.below(4) {
        case 0: changes = [("Status", .string(order.status))]
        case 1: changes = [("Quantity", .integer(Int64(order.quantity)))]
        case 2: changes = [("Status", .string(order.status)), ("IsPriority", .boolean(order.isPriority))]
        default: changes = [("Note", .string(order.note))]
        }
        let action = Operation.Action.update(entity, changes: PropertyValues(changes), bindings: [])
        return Record(
            time: order.time, body: .operation(Operation(action, baseETag: "W/\"\(1 + random.below(90_000))\"")))
    }

    /// Returns a form for a customer: the new entity, its order, and links to existing entities.
    private static func form(_ order: Order, _ random: inout SeededRandom) -> [Record] {
        let entity = EntityID(rawValue: UInt64(order.id * 2))
        var values: [(String, Value)] = [
            ("CustomerID", .integer(Int64(order.id))), ("Name", .string("Customer number \(order.customer)")),
            ("Street", .string("\(Order.statuses[random.below(4)]) street \(random.below(300))")),
            ("City", .string(order.note.prefix(12).description)),
            ("PostalCode", .string("\(10_000 + random.below(80_000))")),
            ("Country", .string(["DE", "FR", "IT", "US"][random.below(4)])),
            ("Phone", .string("+49 \(random.below(100_000_000))")),
            ("Email", .string("c\(order.customer)@example.com")),
            ("CreditLimit", .integer(Int64(random.below(50) * 1_000))),
            ("IsBlocked", .boolean(order.isPriority)), ("Remark", .string(order.note)),
            ("Discount", .double(Double(random.below(40)) / 2)),
            ("Language", .string(["de", "en", "fr"][random.below(3)])),
            ("Terms", .string("net \(10 * (1 + random.below(6)))")), ("Score", .integer(Int64(random.below(1_000)))),
        ]
        for extra in 0..<random.below(6) { values.append(("Custom\(extra)", .integer(Int64(random.below(1_000))))) }
        let creation = Creation(
            entity: entity, set: "Customers", type: "Shop.Customer", values: PropertyValues(values))
        var commit = [Record(time: order.time, body: .operation(Operation(.create(creation, parent: nil))))]
        commit.append(order.record)
        for _ in 0..<3 + random.below(6) {
            let target = EntityID(rawValue: UInt64(1 + random.below(20_000)))
            let navigation = ["Orders", "Contacts", "Regions"][random.below(3)]
            commit.append(
                Record(
                    time: order.time,
                    body: .operation(Operation(.createLink(Link(from: entity, navigation: navigation, to: target))))))
        }
        return commit
    }
}
