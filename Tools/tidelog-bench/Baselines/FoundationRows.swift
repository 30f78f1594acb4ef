internal import Foundation

/// A baseline with the common approach of an app: `JSONDecoder` to structs, and these to SQLite.
struct FoundationRows: Decodable {
    struct Row: Decodable {
        let OrderID: Int
        let CustomerID: Int
        let Status: String
        let Note: String
        let Amount: Double
        let Weight: Double
        let OrderedAt: String
        let Quantity: Int
        let IsPriority: Bool
        let Reference: String

        var order: OrderPages.Row {
            OrderPages.Row(
                order: Order(
                    id: OrderID, customer: CustomerID, status: Status, note: Note, amount: Int(Amount * 100),
                    time: 1_770_000_000_000, quantity: Quantity, isPriority: IsPriority))
        }
    }

    let value: [Row]

    static func decode(_ page: [UInt8]) throws -> FoundationRows {
        try JSONDecoder().decode(FoundationRows.self, from: Data(page))
    }
}
