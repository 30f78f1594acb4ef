import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// The verdict on creates in doubt for each combination of evidence.
struct DoubtEvidenceTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let expected: String
        var change: @Sendable (inout DoubtEvidence) -> Void

        init(_ name: String, _ expected: String, _ change: @escaping @Sendable (inout DoubtEvidence) -> Void) {
            (self.name, self.expected, self.change) = (name, expected, change)
        }

        var testDescription: String { name }
    }

    /// Each row changes the evidence of a create that was not found, in a set of which the store holds all entities.
    static let rows = [
        Row("nothing is there, and the time is not over", "wait") { _ in },
        Row("nothing is there, and the time is over", "absent") { $0.isWaitOver = true },
        Row("one telling entity is there", "adopt 1") { ($0.candidates, $0.bits) = (1, 12) },
        Row("one common entity is there", "undecided") { ($0.candidates, $0.bits) = (1, 11) },
        Row("one entity is there, and older ones may be unknown", "undecided") {
            ($0.candidates, $0.bits, $0.knowsWholeSet) = (1, 31, false)
        },
        Row("one very telling entity is there, and older ones may be unknown", "adopt 1") {
            ($0.candidates, $0.bits, $0.knowsWholeSet) = (1, 32, false)
        },
        Row("two entities are there for one create", "undecided") { ($0.candidates, $0.bits) = (2, 99) },
        Row("two entities are there for two creates", "adopt 2") {
            ($0.creates, $0.candidates, $0.bits) = (2, 2, 12)
        },
        Row("one entity is there for two creates, and the time is not over", "wait") {
            ($0.creates, $0.candidates, $0.bits) = (2, 1, 12)
        },
        Row("one entity is there for two creates, and the time is over", "adopt 1") {
            ($0.creates, $0.candidates, $0.bits, $0.isWaitOver) = (2, 1, 12, true)
        },
        Row("a download delivered one", "undecided") { ($0.broughtSince, $0.isWaitOver) = (1, true) },
        Row("a download delivered one, and there is another candidate", "undecided") {
            ($0.broughtSince, $0.candidates, $0.bits) = (1, 1, 99)
        },
        Row("something like it is there", "undecided") { ($0.lookalikes, $0.isWaitOver) = (1, true) },
        Row("it is there, and something like it", "adopt 1") {
            ($0.lookalikes, $0.candidates, $0.bits) = (1, 1, 12)
        },
        Row("another create in doubt is like it", "undecided") {
            ($0.hasNeighbours, $0.candidates, $0.bits) = (true, 1, 99)
        },
        Row("the search is narrow, and nothing is there", "undecided") { ($0.search, $0.isWaitOver) = (.narrow, true) },
        Row("the search is narrow, and it is there", "adopt 1") {
            ($0.search, $0.candidates, $0.bits) = (.narrow, 1, 12)
        },
        Row("the service cannot be searched", "undecided") { ($0.search, $0.isWaitOver) = (.impossible("No"), true) },
    ]

    @Test(arguments: rows)
    func `the evidence determines the verdict`(_ row: Row) {
        var evidence = DoubtEvidence()
        evidence.knowsWholeSet = true
        row.change(&evidence)
        let verdict: String
        switch evidence.verdict {
        case .adopt(let count): verdict = "adopt \(count)"
        case .absent: verdict = "absent"
        case .wait: verdict = "wait"
        case .undecided(let reason):
            verdict = "undecided"
            #expect(reason.hasSuffix("."))
        }
        #expect(verdict == row.expected)
    }

    // MARK: Waiting

    @Test func `a clock that is set back never shortens the waiting time`() {
        let sent: Timestamp = 1_000_000
        #expect(RequestLifetime(sent: sent, firstLook: nil, now: sent + 5, seconds: 120).end == sent + 120_000)
        let first = RequestLifetime(sent: sent, firstLook: nil, now: 400_000, seconds: 120)
        #expect(first.end == 520_000)
        #expect(
            RequestLifetime(sent: sent, firstLook: first.start, now: 519_999, seconds: 120).isOver(at: 519_999) == false
        )
        #expect(RequestLifetime(sent: sent, firstLook: first.start, now: 520_000, seconds: 120).isOver(at: 520_000))
        // The clock is set back a second time.
        #expect(RequestLifetime(sent: sent, firstLook: first.start, now: 300_000, seconds: 120).end == 420_000)
        #expect(RequestLifetime(sent: .max, firstLook: nil, now: .max, seconds: 120).end == .max)
    }

    // MARK: Content

    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"
        xmlns:sap="http://www.sap.com/Protocols/SAPData"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String"/><Property Name="Code" Type="Edm.String"/>
        <Property Name="Flag" Type="Edm.Boolean"/><Property Name="Amount" Type="Edm.Decimal" Scale="9"/>
        <Property Name="At" Type="Edm.DateTimeOffset" Precision="3"/>
        <Property Name="Total" Type="Edm.Int32"><Annotation Term="Org.OData.Core.V1.Computed"/></Property>
        <Property Name="Secret" Type="Edm.String" sap:filterable="false"/>
        </EntityType>
        <EntityContainer Name="C"><EntitySet Name="Things" EntityType="S.Thing"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private static var type: EntityType {
        get throws { try #require(try CSDLReader.read(Array(metadata.utf8)).findEntityType("S.Thing")) }
    }

    private func content(
        _ values: PropertyValues, frequency: (same: Int, all: Int) = (0, 0)
    ) throws -> SentContent {
        let creation = Creation(entity: EntityID(rawValue: 7), set: "Things", type: "S.Thing", values: values)
        return try SentContent(creation, try Self.type) { _, _ throws(StateError) in frequency }
    }

    private func resemblance(_ sent: PropertyValues, _ found: PropertyValues) throws -> SentContent.MatchDegree {
        try content(sent).resemblance(of: EntityPayload(values: found))
    }

    private func isAlike(_ sent: PropertyValues, _ found: PropertyValues) throws -> Bool {
        if case .alike = try resemblance(sent, found) { true } else { false }
    }

    @Test func `normalized and rounded values of the service match the sent ones`() throws {
        let at = try #require(GlobalDateTime("2026-01-02T03:04:05.678Z"))
        let rounded = try #require(GlobalDateTime("2026-01-02T03:04:05Z"))
        let (exact, short) = (try #require(DecimalValue("1.2345")), try #require(DecimalValue("1.23")))
        #expect(try isAlike(["Name": .string(" Blue  fox ")], ["Name": .string("BLUE FOX")]))
        #expect(try isAlike(["Amount": .decimal(exact)], ["Amount": .decimal(short)]))
        #expect(try isAlike(["At": .dateTimeOffset(at)], ["At": .dateTimeOffset(rounded)]))
        #expect(
            try isAlike(["Name": .string("a"), "Code": .null], ["Name": .string("a"), "Code": .string("default")]))
        #expect(
            try isAlike(["Name": .string("a"), "Total": .integer(1)], ["Name": .string("a"), "Total": .integer(9)]))
        #expect(try isAlike(["Name": .string("a"), "Code": .string("b")], ["Name": .string("a")]))
        #expect(try !isAlike(["Amount": .decimal(exact)], ["Amount": .decimal(try #require(DecimalValue("3")))]))
        #expect(try !isAlike(["Flag": .boolean(true)], ["Flag": .boolean(false)]))
    }

    @Test func `a distinctive value next to a different one makes a lookalike`() throws {
        let found: PropertyValues = ["Name": .string("Quick blue fox"), "Code": .string("y")]
        #expect(try resemblance(["Name": .string("Quick blue fox"), "Code": .string("x")], found) == .lookalike)
        #expect(
            try resemblance(["Name": .string("Slow fox"), "Code": .string("y"), "Flag": .boolean(true)], found)
                == .different)
    }

    @Test func `values that other entities have are weak evidence`() throws {
        let guid = Value.string("0f8fad5b-d9cb-469f-a165-70867728950e")
        #expect(try content(["Name": guid]).bits > 60)
        #expect(try content(["Name": guid], frequency: (9, 9)).bits == 0)
        #expect(try content(["Name": guid], frequency: (1, 1_023)).bits == 9)
        #expect(try content(["Name": .string("New")]).bits < DoubtEvidence.bitsAmongKnown)
        #expect(try content(["Name": .string("mark 3")]).bits >= DoubtEvidence.bitsAmongKnown)
        #expect(try content(["Name": .string(String(repeating: "a", count: 60))]).bits < DoubtEvidence.bitsAmongUnknown)
        #expect(try content(["Flag": .boolean(true), "Code": .null]).bits == 1)
    }

    @Test func `the search uses values that a filter can express, the most distinctive ones first`() throws {
        let sent: PropertyValues = [
            "Flag": .boolean(true), "Name": .string(" Ab "), "Amount": .decimal(try #require(DecimalValue("1.5"))),
            "Secret": .string("very long and telling"), "Code": .string("quick blue fox"),
        ]
        let conditions = try content(sent).conditions
        #expect(conditions.map(\.property.name) == ["Code", "Name", "Flag"])
        #expect(
            conditions[1].alternatives
                == [" Ab ", "Ab", "AB", "ab"].map { ValueCondition.Term.equal(.string($0)) })
        #expect(conditions[1].plain?.alternatives == [.equal(.string(" Ab "))])
        #expect(conditions[2].plain == nil)
    }

    @Test func `creates with equal values are twins, and creates that one entity could match are neighbors`() throws {
        let one = try content(["Name": .string("a"), "Code": .string("b")])
        #expect(one.isSame(as: try content(["Code": .string("b"), "Name": .string("a")])))
        let other = try content(["Name": .string("A"), "Code": .string("b")])
        #expect(!one.isSame(as: other))
        #expect(one.isAlike(other))
        #expect(!one.isAlike(try content(["Name": .string("x"), "Code": .string("b")])))
    }
}
