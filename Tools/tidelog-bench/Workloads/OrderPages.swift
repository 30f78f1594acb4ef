internal import EDM
internal import Operations

/// The workload "orders" as responses of a service: pages of JSON in V4, with ten properties of eight types and a
/// customer for each order, to which a dependent property refers.
struct OrderPages: Sendable {
    static let root = "http://127.0.0.1/"
    static let customers = 5_000
    static let columns = 10

    static let metadata = OrderModel.metadata(
        more: """
            <Property Name="Weight" Type="Edm.Double"/><Property Name="Reference" Type="Edm.Guid"/>
            """)

    /// A row with the additional values of a page.
    struct Row {
        var order: Order
        var weight: Double { Double(order.quantity) * 0.75 }
        var reference: String {
            let digits = String(order.id, radix: 16)
            return "6f9619ff-8b86-4011-b42d-" + String(repeating: "0", count: 12 - digits.count) + digits
        }
        var orderedAt: String {
            GlobalDateTime(millisecondsSince1970: order.time)?.description ?? "2026-01-01T00:00:00Z"
        }
    }

    /// Calls `body` with each page. The last page has no next link.
    ///
    /// - Parameters:
    ///   - changed: If set, only every n-th order, with changed values.
    ///   - deltaLink: The delta link of the last page.
    ///   - isDelta: Whether the pages are those of a delta.
    ///   - name: The names of the pages, by their number from 0.
    static func forEach(
        rows: Int, perPage: Int, changed: Int? = nil, deltaLink: String? = nil, isDelta: Bool = false,
        name: (Int) -> String,
        _ body: (Int, [Row], [UInt8]) throws -> Void
    ) rethrows {
        var orders = OrderGenerator()
        var page: [Row] = []
        var number = 0
        for index in 0..<rows {
            guard var order = orders.next() else { return }
            if let changed {
                guard index % changed == 0 else { continue }
                order.status = "changed"
            }
            page.append(Row(order: order))
            if page.count == perPage, index < rows - (changed ?? 1) {
                try body(number, page, json(page, isDelta, "nextLink", name(number + 1)))
                page.removeAll(keepingCapacity: true)
                number += 1
            }
        }
        try body(number, page, json(page, isDelta, "deltaLink", deltaLink))
    }

    static func customerPage() -> [UInt8] {
        let items = (1...customers).map { #"{"CustomerID":\#($0),"Name":"Customer number \#($0)"}"# }
        return Array(#"{"@odata.context":"$metadata#Customers","value":[\#(items.joined(separator: ","))]}"#.utf8)
    }

    private static func json(_ rows: [Row], _ isDelta: Bool, _ control: String, _ link: String?) -> [UInt8] {
        var bytes = Array(#"{"@odata.context":"$metadata#Orders\#(isDelta ? "/$delta" : "")","value":["#.utf8)
        for (index, row) in rows.enumerated() {
            let order = row.order
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += Array(
                """
                {"OrderID":\(order.id),"CustomerID":\(order.customer),"Status":"\(order.status)",\
                "Note":"\(order.note)","Amount":\(order.amountText),"Weight":\(row.weight),\
                "OrderedAt":"\(row.orderedAt)","Quantity":\(order.quantity),"IsPriority":\(order.isPriority),\
                "Reference":"\(row.reference)"}
                """.utf8)
        }
        bytes += Array("]".utf8)
        if let link { bytes += Array(#","@odata.\#(control)":"\#(link)""#.utf8) }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}
