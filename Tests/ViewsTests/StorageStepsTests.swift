import EDM
import Operations
import SyncCore
import Testing
import Views

/// Coverage, links, keys and lists that the views store in runs, bitmaps and memory equal those of the state in memory,
/// after random steps without a fold, in transactions that are committed or rolled back, and after reopening the file.
struct StorageStepsTests {
    private static let queries = ["A", "B"]
    private static let relationships = ["S.Order.Customer", "S.Customer.Card", "R"]
    /// Entity IDs around the limits of chunks and runs.
    private static let ids: [UInt64] =
        Array(1...12) + Array(4_090...4_100) + [8_191, 8_192, 8_193, 1 << 40, UInt64(Int64.max)]

    private enum Step {
        case register(EntityID, String)
        case assign(String, String, EntityID)
        case cover(EntityID, String, SequenceNumber)
        case uncover(EntityID, String?)
        case drainUncovered(String, SequenceNumber)
        case put(EntityRow)
        case remove(EntityID)
        case find(String, String, Value)
        case link(LinkRow)
        case unlink(String, EntityID, EntityID)
        case putQuery(String, SequenceNumber)
        case removeQuery(String)
        case openLinks(Int)
        case ask(EntityID)
    }

    /// Performs a step and returns its result as text.
    private func perform(_ step: Step, on state: WorkingSet) throws -> String {
        switch step {
        case .register(let id, let set): try state.register(id, set: set)
        case .assign(let set, let key, let id):
            try state.assignKey(set: set, key: key, to: id)
            return "\(String(describing: try state.entity(set: set, key: key)))"
        case .cover(let id, let query, let run): try state.bookkeeping.cover(id, query: query, run: run)
        case .uncover(let id, let query): try state.bookkeeping.uncover(id, query: query)
        case .drainUncovered(let query, let run):
            return "\(try state.bookkeeping.drainUncovered(query: query, before: run))"
        case .put(let row):
            // Rows belong to registered entities, in their registered set.
            if try state.set(of: row.id) == row.set { try state.putRow(row) }
        case .remove(let id): try state.removeRow(id)
        case .find(let set, let property, let value):
            return "\(try state.findRows(set: set, where: [(property, value)]))"
        case .link(let link):
            // Links are between registered entities.
            if try state.set(of: link.first) != nil, try state.set(of: link.second) != nil { try state.putLink(link) }
        case .unlink(let name, let first, let second): try state.removeLink(name, first: first, second: second)
        case .putQuery(let name, let run):
            try state.bookkeeping.putQuery(QueryState(query: DefiningQuery(name: name, query: "Orders"), run: run))
        case .removeQuery(let name): try state.bookkeeping.removeQuery(name)
        case .openLinks(let count):
            let link = OpenLink(query: "A", set: "Orders", source: "O(1)", navigation: "Customer", target: "C(1)")
            try state.bookkeeping.putOpenLinks(Array(repeating: link, count: count))
        case .ask(let id):
            return "\(try state.set(of: id) ?? "-") \(try state.bookkeeping.isCovered(id)) \(try state.links(of: id)) "
                + "\(try state.links(Self.relationships[0], second: id)) "
                + "\(try state.serviceEntities([id]).map(\.set)) \(try state.bookkeeping.queries()) "
                + "\(try state.bookkeeping.openLinks().count)"
        }
        return ""
    }

    private func step(_ random: inout RandomRecords) -> Step {
        func pick<T>(_ list: [T]) -> T { list[random.number(0..<list.count)] }
        func id() -> EntityID { EntityID(rawValue: pick(Self.ids)) }
        let customer = Value.integer(Int64(random.number(1..<4)))
        switch random.number(0..<26) {
        case 0..<3: return .register(id(), pick(RandomRecords.sets))
        case 3..<5: return .assign(pick(RandomRecords.sets + [""]), pick(["ID=1", "ID=2", "Code=1.5"]), id())
        case 5..<9: return .cover(id(), pick(Self.queries), SequenceNumber(random.number(0..<4)))
        case 9..<10: return .uncover(id(), random.chance(50) ? pick(Self.queries) : nil)
        case 10..<11: return .drainUncovered(pick(Self.queries), pick([1, 2, 3, .max]))
        case 11..<14:
            let name = pick(["a", "é", "e\u{301}", ""])
            return random.chance(50)
                ? .put(
                    EntityRow(
                        id: id(), set: "Orders", type: "S.Order", values: ["CustomerID": customer], origin: .service))
                : .put(
                    EntityRow(
                        id: id(), set: "Customers", type: "S.Customer",
                        values: ["ID": customer, "Name": .string(name)], origin: .service))
        case 14..<15: return .remove(id())
        case 15..<18:
            return random.chance(50)
                ? .find("Orders", "CustomerID", customer) : .find("Customers", "ID", customer)
        case 18..<20:
            let inBase = random.chance(50)
            return .link(
                LinkRow(
                    relationship: pick(Self.relationships), first: id(), second: id(), inBase: inBase,
                    inLocal: !inBase || random.chance(50)))
        case 20: return .unlink(pick(Self.relationships), id(), id())
        case 21: return .putQuery(pick(Self.queries + ["C"]), SequenceNumber(random.number(0..<4)))
        // C covers no entity: the views search only the coverage of queries that exist.
        case 22: return .removeQuery("C")
        case 23: return .openLinks(random.number(0..<3))
        default: return .ask(id())
        }
    }

    /// Returns the complete state as text, in the order of iteration.
    private func words(_ state: WorkingSet) throws -> [String] {
        var words: [String] = []
        try state.forEachEntity { words.append("\($0) \($1)") }
        try state.forEachKey { words.append("\($0) \($1) \($2)") }
        try state.forEachRow { words.append("\($0)") }
        try state.forEachLink { words.append("\($0)") }
        try state.bookkeeping.forEachCoverage { words.append("\($0) \($1) \($2)") }
        words += try state.changedLinks().map { "changed \($0)" }
        return words
    }

    fileprivate func prepare(_ state: WorkingSet) throws {
        var fold = try Fold(storage: state)
        let service = ServiceDescription(root: "http://127.0.0.1/", metadata: Array(RandomRecords.metadata.utf8))
        try fold.apply(Record(time: 0, body: .serviceInstalled(service)), sequence: 1)
        for query in Self.queries {
            try state.bookkeeping.putQuery(QueryState(query: DefiningQuery(name: query, query: "Orders")))
        }
    }

    /// Does the steps in a deferred transaction, or in one of the backing if it refuses them.
    private func deferred(
        _ steps: [Step], on state: WorkingSet, _ given: inout [String], then end: () throws -> Void = {}
    ) throws {
        let body = {
            given = try steps.map { try perform($0, on: state) }
            try end()
        }
        do {
            try state.deferredTransaction(body)
        } catch is DeferralRefused {
            try state.transaction(body)
        }
    }

    @Test(arguments: UInt64(1)...6)
    func `random steps leave the same content in the views and in memory`(_ seed: UInt64) throws {
        struct Stop: Error {}
        var random = RandomRecords(seed: seed &+ 4_000)
        let file = ViewsFile()
        let limit = [1, 2, 17, .max][Int(seed % 4)]
        var state = try file.openState(flushLimit: limit)
        var memory = WorkingSet()
        try prepare(memory)
        try state.transaction { try prepare(state) }
        for round in 0..<300 {
            let steps = (0..<random.number(1..<12)).map { _ in step(&random) }
            let before = memory.copy()
            var (given, measure): ([String], [String]) = ([], try steps.map { try perform($0, on: memory) })
            switch random.number(0..<16) {
            case 10..<13: try deferred(steps, on: state, &given)
            case 13..<16:
                #expect(throws: Stop.self) {
                    try deferred(steps, on: state, &given) { throw Stop() }
                }
                memory = before
            case 0..<4: try state.transaction { given = try steps.map { try perform($0, on: state) } }
            case 4..<6: try state.inSharedTransaction { given = try steps.map { try perform($0, on: state) } }
            case 6..<8:
                try state.commitSharedTransaction()
                #expect(throws: Stop.self) {
                    try state.transaction {
                        given = try steps.map { try perform($0, on: state) }
                        throw Stop()
                    }
                }
                memory = before
            default:
                // Without a transaction, changes stay in memory until a flush.
                given = try steps.map { try perform($0, on: state) }
                if random.chance(50) { try state.flush() }
            }
            if random.chance(5) {
                try state.flush()
                state.close()
                state = try file.openState(flushLimit: limit)
            }
            // A pass over everything flushes: not each time, so that several deferred transactions meet.
            if random.chance(40) {
                measure.append(contentsOf: try words(memory))
                given.append(contentsOf: try words(state))
            }
            #expect(given == measure, "seed \(seed), round \(round)")
            if given != measure { return }
        }
    }
}

extension StorageStepsTests {
    @Test func `an entity with the maximum ID hides no other entity`() throws {
        let file = ViewsFile()
        let state = try file.openState()
        let customer = EntityID(rawValue: 1)
        try state.transaction {
            try prepare(state)
            try state.register(customer, set: "Customers")
            try state.putRow(
                EntityRow(
                    id: customer, set: "Customers", type: "S.Customer", values: ["ID": .integer(1)], origin: .service))
            try state.saveBase(EntityID(rawValue: .max), .absent)
        }
        #expect(try state.row(customer)?.id == customer)
    }
}
