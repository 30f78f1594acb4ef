import EDM
import ODataSandbox
import ODataWire

/// The service of the simulation: small, since every open of a store folds its metadata, and with each kind of relationship
/// that an upload treats in a way of its own.
///
/// Every entity has a `Mark` that is given at its creation and nowhere else, so that it shows whether something was created
/// twice; `Note` and `Remark` get each value once, so that it shows whether an update was done twice.
enum FieldService {
    static let sets = ["Customers", "Orders", "Items", "Labels", "Visits"]
    /// Sets whose entities are updated. Labels have no ETag: an update of one cannot be told from a repeated one.
    static let editable = ["Customers", "Orders", "Items", "Visits"]
    static let origin = "http://field.test"

    /// What each defining query is.
    static let queries = [
        ("Customers", "Customers?$expand=Labels"), ("Orders", "Orders"), ("Items", "Items"), ("Labels", "Labels"),
        ("Visits", "Visits"),
    ]

    static func navigations(of set: String) -> [String] {
        switch set {
        case "Customers": ["Labels", "Orders"]
        case "Orders": ["Customer", "Items"]
        case "Items": ["Order"]
        case "Labels": ["Customers"]
        default: []
        }
    }

    static func type(of set: String) -> String { "Field." + set.dropLast() }

    /// With two customers, an order with an item, a label and a visit. Parsed once: a run takes a copy.
    static let seeded: Sandbox = {
        do {
            var sandbox = try Sandbox(
                v4Metadata: Array(v4.utf8), v2Metadata: Array(v2.utf8),
                configuration: SandboxConfiguration(
                    generatedKeys: ["Customers", "Orders", "Items", "Labels"],
                    etags: ["Customers", "Orders", "Items", "Visits"]))
            sandbox.origin = origin
            let entities = [
                ("Customers", #"{"Mark":"s1","Note":"one"}"#), ("Customers", #"{"Mark":"s2"}"#),
                ("Labels", #"{"Mark":"s3"}"#), ("Orders", #"{"Mark":"s4","CustomerID":1}"#),
                ("Items", #"{"Mark":"s5","OrderID":1}"#),
                ("Visits", #"{"VisitID":"00000000-0000-0000-0000-000000000001","Mark":"s6"}"#),
            ]
            for (set, body) in entities {
                let response = sandbox.handle(
                    WireRequest(
                        method: "POST", url: "/v4/" + set, headers: ["Content-Type": "application/json"],
                        body: Array(body.utf8)))
                precondition(response.isSuccess, String(decoding: response.body, as: UTF8.self))
            }
            return sandbox
        } catch {
            preconditionFailure("The simulation's metadata do not parse: \(error)")
        }
    }()
}
