internal import EDM
internal import Operations
internal import SeededRandom

/// A row of the workload "orders".
struct Order {
    var id: Int
    var customer: Int
    var status: String
    var note: String
    /// The amount in hundredths.
    var amount: Int
    /// The number of milliseconds since 1970.
    var time: Int64
    var quantity: Int
    var isPriority: Bool

    static let statuses = ["open", "packed", "shipped", "returned"]

    /// The amount as text, always with two decimals.
    var amountText: String { "\(amount / 100)." + (amount % 100 < 10 ? "0" : "") + "\(amount % 100)" }

    /// The record of the operation that creates the order.
    var record: Record {
        let creation = Creation(
            entity: EntityID(rawValue: UInt64(id)), set: "Orders", type: "Shop.Order",
            values: PropertyValues([
                ("OrderID", .integer(Int64(id))), ("CustomerID", .integer(Int64(customer))),
                ("Status", .string(status)), ("Note", .string(note)), ("Amount", .decimal(amountDecimal)),
                ("OrderedAt", .dateTimeOffset(moment)), ("Quantity", .integer(Int64(quantity))),
                ("IsPriority", .boolean(isPriority)),
            ]))
        return Record(time: time, body: .operation(Operation(.create(creation, parent: nil))))
    }

    /// Returns the image of the order in a download.
    func image(entity: Int) -> EntityImage {
        guard case .operation(let operation) = record.body, case .create(let creation, _) = operation.action else {
            preconditionFailure("an order's record creates it")
        }
        return EntityImage(
            entity: EntityID(rawValue: UInt64(entity)), set: "Orders", type: "Shop.Order", values: creation.values,
            etag: "1")
    }

    private var amountDecimal: DecimalValue {
        guard let value = DecimalValue(amountText) else { preconditionFailure("\(amountText) is a number") }
        return value
    }

    private var moment: GlobalDateTime {
        guard let value = GlobalDateTime(millisecondsSince1970: time) else { preconditionFailure("a time of today") }
        return value
    }
}

/// The orders of a shop, the same in each run.
struct OrderGenerator: Sequence, IteratorProtocol {
    private var random = SeededRandom(seed: 1)
    private var id = 0
    private var time: Int64 = 1_770_000_000_000

    private static let words = [
        "urgent", "fragile", "deliver", "before", "noon", "call", "customer", "gift", "wrapped", "invoice", "separate",
        "backdoor", "repeat", "checked", "express", "return",
    ]

    mutating func next() -> Order? {
        id += 1
        time += Int64(random.below(2_000))
        let note = (0..<6).map { _ in Self.words[random.below(Self.words.count)] }.joined(separator: " ")
        return Order(
            id: id, customer: 1 + random.below(5_000), status: Order.statuses[random.below(Order.statuses.count)],
            note: note, amount: 100 + random.below(50_000), time: time, quantity: 1 + random.below(20),
            isPriority: random.below(2) == 0)
    }
}
