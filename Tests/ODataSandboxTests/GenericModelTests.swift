import EDM
import ODataSandbox
import ODataWire
import Testing

/// The service derives its rules from the model, for any model.
@Suite struct GenericModelTests {
    private static let metadata = """
        <?xml version="1.0" encoding="utf-8"?>
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Firm" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EntityType Name="Employee">
            <Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.String" Nullable="false" MaxLength="4"/>
            <Property Name="Country" Type="Edm.String"/>
            <Property Name="Site" Type="Edm.Int32"/>
            <NavigationProperty Name="Boss" Type="Firm.Employee" Partner="Reports"/>
            <NavigationProperty Name="Reports" Type="Collection(Firm.Employee)" Partner="Boss"/>
            <NavigationProperty Name="Office" Type="Firm.Office">
              <ReferentialConstraint Property="Country" ReferencedProperty="Country"/>
              <ReferentialConstraint Property="Site" ReferencedProperty="Number"/>
            </NavigationProperty>
          </EntityType>
          <EntityType Name="Office">
            <Key><PropertyRef Name="Country"/><PropertyRef Name="Number"/></Key>
            <Property Name="Country" Type="Edm.String" Nullable="false"/>
            <Property Name="Number" Type="Edm.Int32" Nullable="false"/>
          </EntityType>
          <EntityType Name="Notice"><Property Name="Text" Type="Edm.String"/></EntityType>
          <EntityContainer Name="C">
            <EntitySet Name="Employees" EntityType="Firm.Employee">
              <NavigationPropertyBinding Path="Boss" Target="Employees"/>
              <NavigationPropertyBinding Path="Reports" Target="Employees"/>
              <NavigationPropertyBinding Path="Office" Target="Offices"/>
            </EntitySet>
            <EntitySet Name="Offices" EntityType="Firm.Office"/>
            <EntitySet Name="Notices" EntityType="Firm.Notice"/>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private struct Firm {
        var sandbox: Sandbox

        init() throws {
            let bytes = Array(GenericModelTests.metadata.utf8)
            sandbox = try Sandbox(v4Metadata: bytes, v2Metadata: bytes, configuration: SandboxConfiguration())
        }

        @discardableResult
        mutating func send(_ method: String, _ url: String, _ body: String) -> WireResponse {
            sandbox.handle(
                WireRequest(
                    method: method, url: "/v4/" + url, headers: ["Content-Type": "application/json"],
                    body: Array(body.utf8)))
        }
    }

    @Test func `the two ends of a relationship of a type with itself are distinct`() throws {
        var firm = try Firm()
        firm.send("POST", "Employees", #"{"ID":"ann"}"#)
        firm.send("POST", "Employees('ann')/Reports", #"{"ID":"bob"}"#)
        firm.send("POST", "Employees", #"{"ID":"eve","Boss@odata.bind":"Employees('bob')"}"#)
        #expect(
            firm.sandbox.stateText(of: ["Employees"], values: false) == """
                Employees('ann')
                  Reports: Employees('bob')
                Employees('bob')
                  Boss: Employees('ann')
                  Reports: Employees('eve')
                Employees('eve')
                  Boss: Employees('bob')

                """)
        #expect(firm.send("DELETE", "Employees('bob')", "").status == 204)
        #expect(firm.sandbox.stateText(of: ["Employees"], values: false) == "Employees('ann')\nEmployees('eve')\n")
    }

    @Test func `a constraint of two properties links once both are set`() throws {
        var firm = try Firm()
        firm.send("POST", "Offices", #"{"Country":"CH","Number":1}"#)
        #expect(firm.send("POST", "Employees", #"{"ID":"ann","Country":"CH"}"#).status == 201)
        #expect(firm.sandbox.stateText(of: ["Employees"], values: false) == "Employees('ann')\n")
        #expect(firm.send("PATCH", "Employees('ann')", #"{"Site":1}"#).status == 204)
        #expect(
            firm.sandbox.stateText(of: ["Employees"])
                == "Employees('ann') {ID: 'ann', Country: 'CH', Site: 1}\n  Office: Offices(Country='CH',Number=1)\n")
        #expect(firm.send("PATCH", "Employees('ann')", #"{"Site":2}"#).errorCode == "ReferentialConstraint")
        #expect(firm.send("PATCH", "Employees('ann')", #"{"Office@odata.bind":null}"#).status == 204)
        #expect(
            firm.sandbox.stateText(of: ["Employees"]) == "Employees('ann') {ID: 'ann', Country: null, Site: null}\n")
    }

    @Test func `a set whose type has no key contains several entities, in the order of their creation`() throws {
        var firm = try Firm()
        for text in ["a", "b"] { try firm.sandbox.insert(into: "Notices", ["Text": .string(text)]) }
        let response = firm.sandbox.handle(WireRequest(method: "GET", url: "/v4/Notices"))
        let body = String(decoding: response.body, as: UTF8.self)
        #expect(response.status == 200 && body.contains(#""value":[{"Text":"a"},{"Text":"b"}]"#), "\(body)")
    }
}
