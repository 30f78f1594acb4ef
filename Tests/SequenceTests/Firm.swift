import ODataSandbox

/// A service for relationships that the Shop does not have: a relationship of employees with themselves, two
/// relationships of two properties each from desks to offices, a key that follows a property, and a key that contains
/// the key of another entity.
enum Firm {
    static func sandbox(entityIDs: Bool = true) throws -> Sandbox {
        var sandbox = try Sandbox(
            v4Metadata: Array(v4.utf8), v2Metadata: Array(v2.utf8),
            configuration: SandboxConfiguration(
                generatedKeys: ["Employees", "Desks", "Stocks"], entityIDs: entityIDs ? ["Articles"] : [],
                derivedKeys: ["Articles": "Label"]))
        for (url, body) in [
            ("Offices", #"{"Country":"CH","Number":1}"#), ("Offices", #"{"Country":"CH","Number":2}"#),
            ("Articles", #"{"Code":"A","Label":"A"}"#), ("Articles", #"{"Code":"C","Label":"C"}"#),
            ("Stocks", #"{"ArticleCode":"A"}"#), ("Lines", #"{"ArticleCode":"C","Number":1}"#),
            ("Employees", #"{"Name":"Ann"}"#), ("Employees", #"{"Name":"Bob","BossID":1}"#), ("Desks", "{}"),
        ] {
            sandbox.change("POST", url, body)
        }
        return sandbox
    }

    static let sets = ["Employees", "Offices", "Desks", "Articles", "Stocks", "Lines"]

    private static let types = """
        <EntityType Name="Employee"><Key><PropertyRef Name="ID"/></Key>
          <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
          <Property Name="BossID" Type="Edm.Int32"/>{Boss}{Reports}</EntityType>
        <EntityType Name="Office"><Key><PropertyRef Name="Country"/><PropertyRef Name="Number"/></Key>
          <Property Name="Country" Type="Edm.String" Nullable="false"/>
          <Property Name="Number" Type="Edm.Int32" Nullable="false"/>{Desks}{Guests}</EntityType>
        <EntityType Name="Desk"><Key><PropertyRef Name="DeskID"/></Key>
          <Property Name="DeskID" Type="Edm.Int32" Nullable="false"/>
          <Property Name="Country" Type="Edm.String"/><Property Name="Number" Type="Edm.Int32"/>
          <Property Name="GuestCountry" Type="Edm.String"/><Property Name="GuestNumber" Type="Edm.Int32"/>
          {Office}{Guest}</EntityType>
        <EntityType Name="Article"><Key><PropertyRef Name="Code"/></Key>
          <Property Name="Code" Type="Edm.String" Nullable="false"/><Property Name="Label" Type="Edm.String"/>
          {Stocks}{Lines}</EntityType>
        <EntityType Name="Stock"><Key><PropertyRef Name="StockID"/></Key>
          <Property Name="StockID" Type="Edm.Int32" Nullable="false"/>
          <Property Name="ArticleCode" Type="Edm.String"/>{StockArticle}</EntityType>
        <EntityType Name="Line"><Key><PropertyRef Name="ArticleCode"/><PropertyRef Name="Number"/></Key>
          <Property Name="ArticleCode" Type="Edm.String" Nullable="false"/>
          <Property Name="Number" Type="Edm.Int32" Nullable="false"/>
          <Property Name="Text" Type="Edm.String"/>{LineArticle}</EntityType>
        """

    private struct End {
        let name: String
        let target: String
        let partner: String
        var isCollection = false
        var isMandatory = false
        var pairs: [(String, String)] = []
        let relationship: String
        let roles: (String, String)
    }

    private static let ends: [String: End] = [
        "Boss": End(
            name: "Boss", target: "Employee", partner: "Reports", pairs: [("BossID", "ID")], relationship: "Reporting",
            roles: ("Report", "Boss")),
        "Reports": End(
            name: "Reports", target: "Employee", partner: "Boss", isCollection: true, relationship: "Reporting",
            roles: ("Boss", "Report")),
        "Desks": End(
            name: "Desks", target: "Desk", partner: "Office", isCollection: true, relationship: "Office_Desk",
            roles: ("Office", "Desk")),
        "Guests": End(
            name: "Guests", target: "Desk", partner: "GuestOffice", isCollection: true, relationship: "Office_Guest",
            roles: ("Office", "Desk")),
        "Office": End(
            name: "Office", target: "Office", partner: "Desks", pairs: [("Country", "Country"), ("Number", "Number")],
            relationship: "Office_Desk", roles: ("Desk", "Office")),
        "Guest": End(
            name: "GuestOffice", target: "Office", partner: "Guests",
            pairs: [("GuestCountry", "Country"), ("GuestNumber", "Number")], relationship: "Office_Guest",
            roles: ("Desk", "Office")),
        "Stocks": End(
            name: "Stocks", target: "Stock", partner: "Article", isCollection: true, relationship: "Article_Stock",
            roles: ("Article", "Stock")),
        "StockArticle": End(
            name: "Article", target: "Article", partner: "Stocks", pairs: [("ArticleCode", "Code")],
            relationship: "Article_Stock", roles: ("Stock", "Article")),
        "Lines": End(
            name: "Lines", target: "Line", partner: "Article", isCollection: true, relationship: "Article_Line",
            roles: ("Article", "Line")),
        "LineArticle": End(
            name: "Article", target: "Article", partner: "Lines", isMandatory: true,
            pairs: [("ArticleCode", "Code")], relationship: "Article_Line", roles: ("Line", "Article")),
    ]

    private static func filled(_ text: (End) -> String) -> String {
        ends.sorted { $0.key < $1.key }.reduce(types) { result, item in
            result.split(separator: "{\(item.key)}", omittingEmptySubsequences: false).joined(
                separator: text(item.value))
        }
    }

    private static var setElements: String {
        [
            ("Employees", "Employee"), ("Offices", "Office"), ("Desks", "Desk"), ("Articles", "Article"),
            ("Stocks", "Stock"), ("Lines", "Line"),
        ].map { "<EntitySet Name=\"\($0)\" EntityType=\"Firm.\($1)\"/>" }.joined()
    }

    static var v4: String {
        let content = filled { end in
            let pairs = end.pairs.map { "<ReferentialConstraint Property=\"\($0)\" ReferencedProperty=\"\($1)\"/>" }
            let type = end.isCollection ? "Collection(Firm.\(end.target))" : "Firm.\(end.target)"
            let nullable = end.isMandatory ? " Nullable=\"false\"" : ""
            return
                "<NavigationProperty Name=\"\(end.name)\" Type=\"\(type)\"\(nullable) Partner=\"\(end.partner)\">\(pairs.joined())</NavigationProperty>"
        }
        return """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="Firm" xmlns="http://docs.oasis-open.org/odata/ns/edm">\(content)
            <EntityContainer Name="C">\(setElements)</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """
    }

    static var v2: String {
        let content = filled { end in
            "<NavigationProperty Name=\"\(end.name)\" Relationship=\"Firm.\(end.relationship)\" FromRole=\"\(end.roles.0)\" ToRole=\"\(end.roles.1)\"/>"
        }
        let sets = Dictionary(
            uniqueKeysWithValues: [
                ("Employee", "Employees"), ("Office", "Offices"), ("Desk", "Desks"), ("Article", "Articles"),
                ("Stock", "Stocks"), ("Line", "Lines"),
            ])
        var associations = ""
        var associationSets = ""
        for end in ends.values.filter({ !$0.pairs.isEmpty }).sorted(by: { $0.relationship < $1.relationship }) {
            let dependent = ends.values.first { $0.relationship == end.relationship && $0.isCollection }?.target ?? ""
            let (own, other) = end.roles
            associations += """
                <Association Name="\(end.relationship)">
                <End Role="\(other)" Type="Firm.\(end.target)" Multiplicity="\(end.isMandatory ? "1" : "0..1")"/>
                <End Role="\(own)" Type="Firm.\(dependent)" Multiplicity="*"/><ReferentialConstraint>
                <Principal Role="\(other)">\(end.pairs.map { "<PropertyRef Name=\"\($0.1)\"/>" }.joined())</Principal>
                <Dependent Role="\(own)">\(end.pairs.map { "<PropertyRef Name=\"\($0.0)\"/>" }.joined())</Dependent>
                </ReferentialConstraint></Association>
                """
            associationSets += """
                <AssociationSet Name="\(end.relationship)" Association="Firm.\(end.relationship)">
                <End Role="\(other)" EntitySet="\(sets[end.target] ?? "")"/>
                <End Role="\(own)" EntitySet="\(sets[dependent] ?? "")"/></AssociationSet>
                """
        }
        return """
            <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
            <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
            <Schema Namespace="Firm" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">\(content)\(associations)
            <EntityContainer Name="C" m:IsDefaultEntityContainer="true">\(setElements)\(associationSets)</EntityContainer>
            </Schema></edmx:DataServices></edmx:Edmx>
            """
    }
}
