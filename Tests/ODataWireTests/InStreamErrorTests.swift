import EDM
import ODataWire
import Testing

/// The search for the failure that a response with a successful status reports.
struct InStreamErrorTests {
    private let v2 = PayloadReader(version: .v2, model: PayloadShop.model(.v2))
    private let v4 = PayloadReader(version: .v4, model: PayloadShop.model(.v4))

    @Test(arguments: [
        (#"{"odata.error""#, true), (#"error":{}}"#, true), (#"{"errerror":1}"#, true), (#"error""#, true),
        (#"rror""#, false), ("error", false), ("", false), (#"{"error ":1}"#, false), (#"{"Error":1}"#, false),
    ])
    func `a body may report an error if it contains the end of the name`(_ body: String, _ mayReport: Bool) {
        let bytes = Array(body.utf8)
        #expect(v2.mayReportError(bytes) == mayReport)
        #expect(v4.mayReportError(bytes) == mayReport)
    }

    @Test func `Atom may always report an error, and an empty body never does`() {
        let markup = Array("<entry/>".utf8)
        #expect(v2.mayReportError(markup))
        #expect(!v4.mayReportError(markup))
        for reader in [v2, v4] {
            #expect(!reader.mayReportError([]))
            #expect(reader.inStreamError(in: [], of: PayloadShop.customer) == nil)
        }
    }

    @Test func `a search that finds the name and no error returns nil`() {
        for body in [#"{"errerror":1}"#, #"error""#, #"{"error""#, #"{"CustomerID":1,"Name":"error"}"#] {
            #expect(v4.inStreamError(in: Array(body.utf8), of: PayloadShop.customer) == nil, "\(body)")
        }
        let failed = #"{"CustomerID":1,"error":{"code":"C","message":"broken"}}"#
        #expect(v4.inStreamError(in: Array(failed.utf8), of: PayloadShop.customer)?.code == .serviceError)
        #expect(v2.inStreamError(in: Array(failed.utf8), of: PayloadShop.customer)?.code == .serviceError)
    }

    @Test(arguments: [ODataVersion.v2, .v4])
    func `a request reports no error, so its properties may have the names of errors and wrappers`(
        _ version: ODataVersion
    ) throws {
        let text = """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="M">
            <EntityType Name="Job"><Key><PropertyRef Name="d"/></Key><Property Name="d" Type="Edm.String"/>
            <Property Name="error" Type="Edm.String"/></EntityType>
            <EntityContainer Name="C"><EntitySet Name="Jobs" EntityType="M.Job"/></EntityContainer></Schema>
            </edmx:DataServices></edmx:Edmx>
            """
        let model = try CSDLReader.read(Array(text.utf8))
        let type = try #require(model.findEntityType("M.Job"))
        let reader = RequestBodyReader(version: version, model: model)
        #expect(try reader.entity(Array(#"{"error":"x"}"#.utf8), type: type).values == ["error": .string("x")])
        #expect(try reader.entity(Array(#"{"d":"x"}"#.utf8), type: type).values == ["d": .string("x")])
        let failure = #expect(throws: PayloadError.self) {
            try RequestBodyReader(version: .v4, model: PayloadShop.model(.v4)).entity(
                Array(#"{"error":"x"}"#.utf8), type: PayloadShop.customer)
        }
        #expect(failure?.code == .unknownProperty)
    }
}
