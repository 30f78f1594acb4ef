import EDM
import Operations
import SyncCore

/// Random queries of a state with their results as text. The same seed leads to the same queries.
struct StateSample {
    private var random: RandomRecords
    private let model: EntityDataModel
    private let state: WorkingSet
    private(set) var answers: [String] = []

    private static let relationships = ["S.Order.Customer", "S.Customer.Card", "S.Order.Tags", "S.Customer.Orders"]

    /// Runs `count` queries of each kind.
    static func answers(of state: WorkingSet, _ model: EntityDataModel?, seed: UInt64, count: Int) throws -> [String] {
        guard let model else { return [] }
        var sample = StateSample(random: RandomRecords(seed: seed), model: model, state: state)
        sample.answers.append("\(try state.header().applied) \(try state.pendingCount()) \(try state.hasHeldBack())")
        for _ in 0..<count {
            try sample.askEntity()
            try sample.askQueue()
            try sample.find()
        }
        return sample.answers
    }

    private init(random: RandomRecords, model: EntityDataModel, state: WorkingSet) {
        self.random = random
        self.model = model
        self.state = state
    }

    private mutating func pick<T>(_ list: [T]) -> T { list[random.number(0..<list.count)] }

    /// Also the number after the last one, and the highest numbers.
    private mutating func entity() throws -> EntityID {
        if random.chance(2) { return EntityID(rawValue: pick([.max, UInt64(Int64.max), 0])) }
        let next = min(try state.header().nextEntity.rawValue, 400)
        return EntityID(rawValue: UInt64(random.number(1..<Int(next) + 3)))
    }

    private mutating func askEntity() throws {
        let (id, other, relationship) = (try entity(), try entity(), pick(Self.relationships))
        answers.append("row \(id): \(Self.words(try state.row(id)))")
        answers.append("set \(id): \(try state.set(of: id) ?? "-"), covered: \(try state.bookkeeping.isCovered(id))")
        switch try state.base(id) {
        case nil: answers.append("base \(id): none")
        case .absent: answers.append("base \(id): absent")
        case .row(let row): answers.append("base \(id): \(Self.words(row))")
        }
        answers.append("service row \(id): \(Self.words(try state.serviceRow(id)))")
        answers.append("links \(id): \(try state.links(of: id))")
        answers.append("first \(id): \(try state.links(relationship, first: id))")
        answers.append("second \(id): \(try state.links(relationship, second: id))")
        answers.append(
            "link \(id) \(other): \(String(describing: try state.link(relationship, first: id, second: other)))")
        answers.append("streams \(id): \(try state.bookkeeping.streams(of: id))")
        answers.append(
            "ancestor \(id): \(Self.words(try state.bookkeeping.mergeBase(id)?.row)), any: \(try state.bookkeeping.hasMergeBases())"
        )
        let entities = try state.serviceEntities([id, other]).map { "\($0.id) \($0.set) \(Self.words($0.row))" }
        answers.append("service \(id) \(other): \(entities.sorted())")
    }

    private mutating func askQueue() throws {
        let id = try entity()
        let sequence = SequenceNumber(random.number(1..<Int(try state.header().applied) + 2))
        answers.append("pending \(sequence): \(String(describing: try state.pendingOperation(sequence)))")
        answers.append("naming \(id): \(try state.pendingOperations(naming: id))")
        answers.append("changing \(id): \(try state.pendingOperations(changing: id))")
        answers.append("any undone: \(try state.bookkeeping.hasUndone())")
        answers.append("undone \(sequence): \(String(describing: try state.bookkeeping.undoneOperation(sequence)))")
    }

    private mutating func find() throws {
        let set = pick(RandomRecords.sets)
        guard model.findEntitySet(set) != nil else { return }
        let key = set == "Tags" ? "Code=\(pick(["1.5", "0", "10"]))" : "ID=\(random.number(1..<12))"
        answers.append("\(set) \(key): \(String(describing: try state.entity(set: set, key: key)))")
        let number = Value.integer(Int64(random.number(1..<12)))
        var wanted: [(property: String, value: Value)] =
            switch random.number(0..<5) {
            case 0: [("Name", .string(pick(["a", "", "é", "e\u{301}", "x\u{0}y"])))]
            case 1: [("Rating", DecimalValue(pick(["1.5", "1.50", "0", "10"])).map(Value.decimal) ?? .null)]
            case 2: [("CustomerID", number)]
            default: [("ID", number)]
            }
        if random.chance(20) { wanted.append(("Address/Zip", .integer(Int64(random.number(0..<9))))) }
        let found = try state.findRows(set: set, where: wanted)
        answers.append("\(set) where \(wanted): \(found)")
        answers.append("all \(set): \(try state.rows(set: set))")
    }

    /// Returns the values in the order of their names, because storages have different orders.
    private static func words(_ row: EntityRow?) -> String {
        guard let row else { return "-" }
        let values = row.values.names.sorted().map { "\($0)=\(row.values[$0] ?? .null)" }
        return "\(row.id) \(row.set) \(row.type) \(row.etag ?? "-") \(row.editLink ?? "-") \(row.origin) "
            + "\(row.downloaded) \(values)"
    }
}
