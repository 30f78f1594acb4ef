internal import EDM

/// The implementations of the Shop's functions and actions.
enum ShopOperations {
    static let all: [String: SandboxOperation] = [
        "TopCustomers": { call throws(SandboxError) in
            let count = call.parameters["count"]?.integerValue ?? 0
            guard count >= 0 else { throw SandboxError(400, .badRequest, "The count is negative.", target: "count") }
            let ranked = call.contents(of: "Customers").map { ($0, turnover(of: $0, call)) }.sorted {
                $0.1 == $1.1 ? $0.0.number < $1.0.number : $0.1 > $1.1
            }
            return .entities(ranked.prefix(Int(clamping: count)).map(\.0))
        },
        "Turnover": { call throws(SandboxError) in
            .value(.integer(turnover(of: try find("Customers", "CustomerID", call.parameters["customer"], call), call)))
        },
        "CancelOrder": { call throws(SandboxError) in
            try call.delete(try find("Orders", "OrderID", call.parameters["order"], call))
            return .nothing
        },
        "Annotate": { call throws(SandboxError) in
            guard let order = call.binding.first else { throw Transaction.gone }
            try call.update(order, ["Note": call.parameters["note"] ?? .null])
            return .entity(order)
        },
    ]

    private static func turnover(of customer: Sandbox.StoredEntity, _ call: SandboxCall) -> Int64 {
        call.targets(of: customer, "Orders").reduce(0) { $0 &+ ($1.values["Total"]?.integerValue ?? 0) }
    }

    private static func find(
        _ set: String, _ key: String, _ value: Value?, _ call: SandboxCall
    ) throws(SandboxError) -> Sandbox.StoredEntity {
        guard let found = call.contents(of: set).first(where: { $0.values[key] == value }) else {
            throw Transaction.gone
        }
        return found
    }
}
