import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// The values of a new entity if the headers of the response contain its key, and the body contains it too, or a part
/// of it. The log contains their order.
struct LocationKeyTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Item"><Key><PropertyRef Name="A"/><PropertyRef Name="B"/></Key>
        <Property Name="A" Type="Edm.Int32"/><Property Name="B" Type="Edm.Int32"/>
        <Property Name="Note" Type="Edm.String"/></EntityType>
        <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/>
        <Property Name="Street" Type="Edm.String"/></ComplexType>
        <EntityType Name="Place"><Key><PropertyRef Name="Address/City" Alias="City"/></Key>
        <Property Name="Address" Type="Shop.Address"/><Property Name="Note" Type="Edm.String"/></EntityType>
        <EntityContainer Name="Container">
        <EntitySet Name="Items" EntityType="Shop.Item"/><EntitySet Name="Places" EntityType="Shop.Place"/>
        <EntitySet Name="Customers" EntityType="Shop.Item"/>
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    private let store: TestStore

    init() throws {
        store = try TestStore(ServiceDescription(root: "http://127.0.0.1/v4/", metadata: Array(Self.metadata.utf8)))
    }

    /// Creates an entity, and returns the outcome of a response with a `Location`.
    private func created(_ set: String, _ location: String, _ body: String) throws -> BatchAnswered.Outcome {
        try store.create(set, ["Note": .string("sent")])
        let plan = try store.plan()
        let root = "http://127.0.0.1/v4/"
        let sent = UploadedBatch(plan, number: try store.prepare(plan)) { _ in nil }
        var reconciler = try Reconciler(storage: store.state, model: store.model, serviceRoot: root)
        let headers: HTTPHeaders = ["Content-Type": "application/json", "Location": root + location]
        let response = WireResponse(status: 201, headers: headers, body: Array(body.utf8))
        let outcomes = try reconciler.outcomes(of: sent.answered([.members([response])]))
        return try #require(outcomes.first)
    }

    /// Expects these values in the image, and the bytes of a record with them.
    private func expect(_ outcome: BatchAnswered.Outcome, _ expected: PropertyValues) throws {
        guard case .confirmed(let images) = outcome.result, var image = images.first else {
            Issue.record("no image")
            return
        }
        #expect(image.values.names == expected.names)
        #expect(image.values == expected)
        let (found, result) = (bytes(outcome), outcome.result)
        image.values = expected
        let rebuilt = BatchAnswered.Outcome(
            operation: outcome.operation, result: .confirmed(images: [image] + images.dropFirst()))
        #expect(found == bytes(rebuilt), "\(result)")
    }

    private func bytes(_ outcome: BatchAnswered.Outcome) -> [UInt8] {
        RecordCodec.encode(Record(time: 0, body: .batchAnswered(BatchAnswered(batch: 1, outcomes: [outcome])))).payload
    }

    @Test(
        arguments: [
            (#"{"A":1,"B":2,"Note":"n"}"#, ["A": .integer(1), "B": .integer(2), "Note": .string("n")]),
            (#"{"B":2}"#, ["A": .integer(1), "B": .integer(2)]),
            (#"{"B":2,"A":1,"Note":"n"}"#, ["A": .integer(1), "B": .integer(2), "Note": .string("n")]),
            (#"{"Note":"n","A":1,"B":2}"#, ["A": .integer(1), "B": .integer(2), "Note": .string("n")]),
            (#"{"A":7,"B":8,"Note":"n"}"#, ["A": .integer(7), "B": .integer(8), "Note": .string("n")]),
            (#"{"A":7,"Note":"n"}"#, ["A": .integer(7), "B": .integer(2), "Note": .string("n")]),
            (#"{"A":null,"B":2}"#, ["A": .null, "B": .integer(2)]), (#"{"A":null}"#, ["A": .null, "B": .integer(2)]),
        ] as [(String, PropertyValues)])
    func `the key of Location precedes the values of the body, which replace it`(
        _ body: String, _ values: PropertyValues
    ) throws {
        try expect(try created("Items", "Items(A=1,B=2)", body), values)
    }

    @Test(
        arguments: [
            (#"{"Note":"n"}"#, ["City": .string("Rome")]),
            (
                #"{"Note":"n","Address":{"Street":"s","City":"Oslo"}}"#,
                ["Street": .string("s"), "City": .string("Oslo")]
            ),
            (#"{"Address":{"City":"Rome"},"Note":"n"}"#, ["City": .string("Rome")]),
        ] as [(String, PropertyValues)])
    func `a nested key of Location precedes the values of the body`(
        _ body: String, _ address: PropertyValues
    ) throws {
        let complex = Value.complex(ComplexValue(properties: address))
        try expect(
            try created("Places", "Places(City='Rome')", body),
            ["Address": complex, "Note": .string("n")])
    }
}
