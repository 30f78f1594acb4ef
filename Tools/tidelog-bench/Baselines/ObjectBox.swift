internal import CBench

/// Orders and their customers in ObjectBox, stored and read as its generated classes do: rows are FlatBuffers, an order
/// has a to-one relation to its customer, and the orders of a customer are its backlinks.
final class ObjectBox {
    private let box: OpaquePointer

    /// The reason why ObjectBox is not available, or nil if it is.
    static var missing: String? { bench_objectbox_missing().map { String(cString: $0) } }

    /// The note in a report.
    static var note: String {
        missing.map { "Without ObjectBox: \($0)." }
            ?? "ObjectBox \(String(cString: bench_objectbox_version())): a to-one relation with its index, each transaction "
            + "synced; a customer's orders are its backlinks, each call in a transaction of its own, a struct of each row."
    }

    /// Creates a new store with the customers.
    init(directory: String, customers: Int) throws {
        let box = try MessageBuffer.call("ObjectBox") { bench_objectbox_open(directory, $0, $1) }
        self.box = box
        try Self.call { bench_objectbox_put_customers(box, UInt64(customers), $0, $1) }
    }

    deinit { bench_objectbox_close(box) }

    /// Stores orders in one transaction.
    func put(_ orders: some Collection<Order>) throws {
        try Self.call { bench_objectbox_begin(box, $0, $1) }
        for order in orders {
            try order.status.withCString { status in
                try order.note.withCString { note in
                    var row = bench_order(
                        id: UInt64(order.id), customer: UInt64(order.customer), status: status,
                        status_length: order.status.utf8.count, note: note, note_length: order.note.utf8.count,
                        amount: Double(order.amount) / 100, time: order.time, quantity: Int32(order.quantity),
                        is_priority: order.isPriority ? 1 : 0)
                    try Self.call { bench_objectbox_put(box, &row, $0, $1) }
                }
            }
        }
        try Self.call { bench_objectbox_commit(box, $0, $1) }
    }

    /// Returns the orders of a customer, each read completely.
    func orders(of customer: Int) throws -> [Order] {
        try rows { context, error, room in
            bench_objectbox_orders(box, UInt64(customer), context, Self.append, error, room)
        }
    }

    func order(_ id: Int) throws -> Order? {
        try rows { context, error, room in
            bench_objectbox_order(box, UInt64(id), context, Self.append, error, room)
        }.first
    }

    // MARK: Calls

    private static let append: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<bench_order>?) -> Void = {
        guard let context = $0, let row = $1?.pointee else { return }
        context.assumingMemoryBound(to: [Order].self).pointee.append(
            Order(
                id: Int(row.id), customer: Int(row.customer), status: text(row.status, row.status_length),
                note: text(row.note, row.note_length), amount: Int((row.amount * 100).rounded()), time: row.time,
                quantity: Int(row.quantity), isPriority: row.is_priority != 0))
    }

    private static func text(_ start: UnsafePointer<CChar>?, _ length: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
    }

    private func rows(
        _ call: (UnsafeMutableRawPointer, UnsafeMutablePointer<CChar>, Int) -> Int32
    ) throws -> [Order] {
        var rows: [Order] = []
        try withUnsafeMutablePointer(to: &rows) { rows in
            try Self.call { call(UnsafeMutableRawPointer(rows), $0, $1) }
        }
        return rows
    }

    private static func call(_ body: (UnsafeMutablePointer<CChar>, Int) -> Int32) throws {
        try MessageBuffer.call("ObjectBox") { error, room in body(error, room) == 0 ? () : nil }
    }
}
