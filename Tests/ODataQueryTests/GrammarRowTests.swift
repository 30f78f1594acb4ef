import EDM
import ODataQuery
import Testing

/// Valid and invalid sentences that the OASIS suite lacks. Each invalid sentence contains a single error.
struct GrammarRowTests {
    private static let metadata = """
        <edmx:Edmx Version="4.01" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="A"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String"/><Property Name="At" Type="Edm.TimeOfDay"/>
        <Property Name="Colour" Type="S.Colour"/><Property Name="Place" Type="Edm.GeographyPoint"/>
        <Property Name="Took" Type="Edm.Duration"/><Property Name="Tags" Type="Collection(Edm.String)"/>
        <Property Name="Home" Type="S.Home"/><Property Name="Photo" Type="Edm.Stream"/>
        <NavigationProperty Name="Bs" Type="Collection(S.B)"/><NavigationProperty Name="One" Type="S.A"/></EntityType>
        <EntityType Name="B"><Key><PropertyRef Name="X"/><PropertyRef Name="Y"/></Key>
        <Property Name="X" Type="Edm.Int32" Nullable="false"/><Property Name="Y" Type="Edm.String" Nullable="false"/>
        <NavigationProperty Name="As" Type="Collection(S.A)"/></EntityType>
        <ComplexType Name="Home"><Property Name="City" Type="Edm.String"/></ComplexType>
        <EnumType Name="Colour"><Member Name="Red" Value="1"/></EnumType>
        <Function Name="Top" IsBound="true" IsComposable="true"><Parameter Name="it" Type="Collection(S.A)"/>
        <Parameter Name="n" Type="Edm.Int32"/><ReturnType Type="Collection(S.A)"/></Function>
        <Action Name="Go" IsBound="true"><Parameter Name="it" Type="Collection(S.A)"/></Action>
        <EntityContainer Name="C"><EntitySet Name="As" EntityType="S.A"/><EntitySet Name="Bs" EntityType="S.B"/>
        <Singleton Name="Me" Type="S.A"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    private let model: EntityDataModel

    init() throws { model = try CSDLReader.read(Array(Self.metadata.utf8)) }

    private func parse(_ url: String) throws(URLSyntaxError) -> ServiceRequest {
        try ServiceRequest.parse(url.replacing(" ", with: "%20"), model: model, version: .v401)
    }

    private func filter(_ text: String) throws(URLSyntaxError) -> Expression? {
        let request = try parse("As?$filter=" + PercentCoding.encode(text, for: .queryValue))
        return request.options.filter
    }

    @Test(arguments: [
        "Bs(X=1)/Y eq 'a'", "Bs(1)/Y eq 'a'", "Bs(X=1,Y='a',Z=1)/Y eq 'a'", "Bs(X=1,X=2)/Y eq 'a'", "Bs()/Y eq 'a'",
        "Bs(X=1,'a')/Y eq 'a'", "Bs(X=ID,Y=Name)/Y eq 'a'", "Bs(X='a',Y=1)/Y eq 'a'",
        "One(1)/Name eq 'a'", "Tags(1) eq 'a'", "Home(1)/City eq 'a'", "$root/As(1)(2)/Name eq 'a'", "$root eq null",
        "$root/Nothing(1)/Name eq 'a'", "$root/Me(1)/Name eq 'a'", "Nothing(1)/Name eq 'a'", "foo(Name) eq 'a'",
        "case() eq 1", "case(true) eq 1", "case(true:1,) eq 1", "case(ID:1) eq 1", "case(ID gt 0:1:2) eq 1",
        "Name in (Name,'a')", "Name in ('a' 'b')", "Name in 'a','b'", "Name eq'a'", "Colour has 1", "Colour has Name",
        "Colour has Red'Red'", "Colour has S.Colour'--1'", "Colour has S.Colour''", "NULL eq Name",
        "concat('a','b','c') eq ''",
        "isof(Name,'Edm.String')", "isdefined('a')", "Bs/$ref", "Name/$value eq 'a'", "Took eq 'P1Y'", "S.A eq null",
        "Place eq geography'Point(1 2)'", "Place eq geography'SRID=4326;Point(1)'",
        "Place eq geography'SRID=123456;Point(1 2)'",
        "geo.length(geography'SRID=0;LineString(1 2)') gt 1", "At eq 1:20", "At eq 24:00", "ID eq 5.", "ID eq .5",
        "Top(n=1)(2)/Name eq 'a'",
    ])
    func `a condition with one error is rejected`(text: String) {
        #expect(throws: URLSyntaxError.self) { try filter(text) }
    }

    @Test(arguments: [
        "As(1)(2)", "As( 1)", "As(ID=1,ID=2)", "As(@)", "Bs(1)", "Bs(X=1;Y='a')", "Me(1)", "As(1)/One(1)",
        "As(1)/Tags/$value",
        "As/S.Top(n=Name)", "As/S.Top(n=1 add 1)", "As/S.Top(n=[1])", "As/S.Top(1)", "As/S.Top(m=1)",
        "As/S.Top(n=1,n=2)",
        "As/S.Top(n=1)()", "As/S.Top(n=1)(1)(2)", "As/S.Top(n=1)x", "As/S.Go()", "As/S.Go/1", "As/$each/$count",
        "As/$each/1",
        "As/$filter()", "As/$filter(Nothing eq 1)", "As/$filter(Name)", "As/$filter(true)()", "As/$filter(true",
        "$METADATA",
        "$Count", "As/$Count", "$crossjoin()", "As?$format=foo", "As?$expand=Bs/As", "As?$expand=Bs/*",
        "As?$expand=*($top=1)",
        "As?$expand=*/$count", "As?$expand=$value($top=1)", "As?$expand=Photo/$ref", "As?$expand=*/Bs",
        "As?$select=*/Name",
        "As?$select=Bs($top=1)", "As?$select=Name($top=1)", "As?$select=Tags($select=x)", "As?$select=*($top=1)",
        "As?$select=T.*", "As?@1=5", "As?@p", "As?$search=blue%22green%22", "As?$count=yes", "As?$levels=2",
        "As?$apply=Identity", "As?$apply=aggregate(ID WITH sum as T)", "As?$apply=aggregate(ID with SUM as T)",
        "As?$apply=ancestors($root/As,H,ID,aggregate(ID with sum as T))", "As?$apply=ancestors(As,H,ID,filter(true))",
        "As?$apply=ancestors($root/As,H,ID,filter(true),filter(true))",
        "As?$apply=traverse($root/As,H,ID,preorder,groupby((ID)))",
        "As?$apply=traverse($root/As,H,ID,preorder,Name,filter(true))", "As?$apply=traverse($root/Me,H,ID,preorder)",
        "As?$apply=groupby((rolluprecursive($root/As,H,ID,filter(true))))", "As?$apply=join(One as J)",
        "As?$apply=join(Name as J)", "As?$apply=addnested(Name,identity as N)", "As?$apply=S.Nothing()",
        "As?$apply=S.Top(1)",
    ])
    func `a URL with one error is rejected`(url: String) {
        #expect(throws: URLSyntaxError.self) { try parse(url) }
    }

    @Test(arguments: [
        "As/S.Top(n=1)(2)/Name", "As/S.Top(n=1)(ID=2)", "As/S.Top()(2)", "As/S.Top(n=@n)(@k)?@n=1&@k=2",
        "As/$filter(Name eq 'a)/b')(1)", "As/$filter(Name eq %27a)/b%27)/$count",
        "As/$filter%28Bs/any(b:b/X gt 1)%29/$count",
        "As/$filter(Name eq 'it''s (')/$filter(true)(1)/Name", "As(1)/Bs(X=1,Y='a%2Fb')", "As(1)/Bs/1/a%2Fb",
        "As?$count=TRUE", "As?$expand=*(levels=MAX)", "As?$format=application/json;odata.metadata=full",
        "As/$each/S.Go",
    ])
    func `URLs with keys, filters and percent-encoding in unusual places are parsed`(url: String) throws {
        _ = try parse(url)
    }

    @Test(arguments: [
        ("case(ID gt 0:1,ID lt 0:-1,true:0) eq 1", "case(ID gt 0 : 1,ID lt 0 : -1,true : 0) eq 1"),
        ("case(ID eq 10:20,true:5) eq 5", "case(ID eq 10 : 20,true : 5) eq 5"),
        ("case(At eq 10:20:30,true:5) eq 5", "case(At eq 10:20:00 : 30,true : 5) eq 5"),
        ("Bs(X=1,Y='a')/Y eq 'b'", "Bs(X=1,Y='a')/Y eq 'b'"), ("Name in (Name)", "Name in Name"),
        ("Name in ('a')", "Name in ('a')"), ("Name in (@p)", "Name in @p"),
        ("Colour eq S.Colour'-1'", "Colour eq S.Colour'-1'"),
        ("ID eq +5", "ID eq 5"), ("ID eq -INF", "ID eq -INF"),
        ("Took add 'PT1H' eq null", "Took add duration'PT1H' eq null"),
        ("isof(Tags,Collection(Edm.String))", "isof(Tags,Collection(Edm.String))"),
    ])
    func `conditions print to the shortest equivalent text`(text: String, printed: String) throws {
        let expression = try #require(try filter(text))
        #expect(try expression.print(version: .v401) == printed)
        #expect(try Expression.parse(printed, version: .v401) == expression)
    }

    @Test(.timeLimit(.minutes(5)))
    func `nested case expressions with ambiguous colons are parsed without exponential backtracking`() {
        for depth in [10, 20, 30] {
            let text =
                String(repeating: "case(ID eq 10:20 and ", count: depth) + "true:1"
                + String(repeating: ":2)", count: depth)
            _ = try? Expression.parse(text, version: .v401)
        }
        let colons = "case(ID eq " + String(repeating: "1:", count: 200_000) + "1)"
        #expect(throws: URLSyntaxError.self) { try Expression.parse(colons, version: .v401) }
    }
}
