import EDM
import ODataSandbox
import ODataWire

/// The service of the simulation.
///
/// It is small, because every opening of a store folds its metadata, and contains each kind of relationship that an
/// upload treats differently.
///
/// Every entity has a `Mark` that is assigned only at its creation, which reveals duplicate creations. `Note` and
/// `Remark` receive each value only once, which reveals duplicate updates.
enum FieldService {
    static let sets = ["Customers", "Orders", "Items", "Labels", "Visits"]
    /// The sets whose entities are updated. Labels have no ETag, so a repeated update of one is not detectable.
    static let editable = ["Customers", "Orders", "Items", "Visits"]
    static let origin = "http://field.test"

    /// The defining queries by name.
    static let queries = [
        ("Customers", "Customers?$expand=Labels"), ("Orders", "Orders"), ("Items", "Items"), ("Labels", "Labels"),
        ("Visits", "Visits"),
    ]

    /// The set whose entities have no key, and its defining query. Each download has to quarantine all of them.
    static let keyless = "Notices"

    /// Returns whether an entity with this mark exists before a run.
    static func isInitial(_ mark: String) -> Bool { ["s1", "s2", "s3", "s4", "s5", "s6"].contains(mark) }

    static func navigations(of set: String) -> [String] {
        switch set {
        case "Customers": ["Labels", "Orders"]
        case "Orders": ["Customer", "Items"]
        case "Items": ["Order"]
        case "Labels": ["Customers"]
        default: []
        }
    }

    /// The property of orders that exists only in the stores.
    static let clientOnly = "Pin"

    /// The sets of drafts, which exist only in the stores.
    static let draftSets = ["OrderDrafts", "ItemDrafts", "VisitDrafts"]

    static func draft(of set: String) -> String { set.dropLast() + "Drafts" }

    /// Names that no request may contain.
    static let localNames = ["\"\(clientOnly)\"", "LocalDraft"] + draftSets

    static let clientOnlyMetadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Field" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Order"><Property Name="\(clientOnly)" Type="Edm.String"/></EntityType>
        <EntityContainer Name="Local">
        <EntitySet Name="OrderDrafts" EntityType="Field.Order">
        <Annotation Term="com.sap.vocabularies.Offline.v1.LocalDraft" String="Orders"/>
        <NavigationPropertyBinding Path="Items" Target="ItemDrafts"/>
        </EntitySet>
        <EntitySet Name="ItemDrafts" EntityType="Field.Item">
        <Annotation Term="com.sap.vocabularies.Offline.v1.LocalDraft" String="Items"/>
        <NavigationPropertyBinding Path="Order" Target="OrderDrafts"/>
        </EntitySet>
        <EntitySet Name="VisitDrafts" EntityType="Field.Visit">
        <Annotation Term="com.sap.vocabularies.Offline.v1.LocalDraft" String="Visits"/>
        </EntitySet>
        </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    static func type(of set: String) -> String { "Field." + set.dropLast() }

    /// The actions. Each creates a label with the mark that the device passes, which reveals repeated calls.
    private static let operations: [String: SandboxOperation] = [
        "AddLabel": { call throws(SandboxError) in
            try call.insert(into: "Labels", ["Mark": call.parameters["mark"] ?? .null])
            return .nothing
        },
        "Annotate": { call throws(SandboxError) in
            if let order = call.binding.first {
                try call.update(order, ["Remark": call.parameters["remark"] ?? .null])
            }
            try call.insert(into: "Labels", ["Mark": call.parameters["mark"] ?? .null])
            return .nothing
        },
    ]

    /// A service with two customers, an order with an item, a label and a visit. Parsed once; each run uses a copy.
    static let seeded: Sandbox = {
        do {
            var sandbox = try Sandbox(
                v4Metadata: Array(v4.utf8), v2Metadata: Array(v2.utf8),
                configuration: SandboxConfiguration(
                    generatedKeys: ["Customers", "Orders", "Items", "Labels"],
                    etags: ["Customers", "Orders", "Items", "Visits"]))
            sandbox.origin = origin
            sandbox.operations = operations
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
            for mark in ["n1", "n2"] { try sandbox.insert(into: keyless, ["Mark": .string(mark)]) }
            return sandbox
        } catch {
            preconditionFailure("The metadata of the simulation cannot be parsed: \(error)")
        }
    }()
}
