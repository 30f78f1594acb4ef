import EDM
import class Foundation.ProcessInfo
import ODataQuery
import SeededRandom
import Testing

/// Tests with random sentences of the grammar.
///
/// Each sentence parses, passes the type check, and prints to text with the same meaning. Its evaluation returns a
/// value or throws an error with a message. A sentence with an injected error never traps. `TIDELOG_SEED` selects other
/// sentences.
struct GrammarWalkTests {
    private static let metadata = """
        <edmx:Edmx Version="4.01" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Product" HasStream="true"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
        <Property Name="Price" Type="Edm.Decimal" Scale="variable"/><Property Name="Weight" Type="Edm.Double"/>
        <Property Name="Paid" Type="Edm.Boolean"/><Property Name="Day" Type="Edm.Date"/>
        <Property Name="At" Type="Edm.TimeOfDay" Precision="12"/><Property Name="Token" Type="Edm.Guid"/>
        <Property Name="Placed" Type="Edm.DateTimeOffset" Precision="12"/><Property Name="Took" Type="Edm.Duration"/>
        <Property Name="Data" Type="Edm.Binary"/><Property Name="Colour" Type="S.Colour"/>
        <Property Name="Tags" Type="Collection(Edm.String)"/><Property Name="Address" Type="S.Address"/>
        <Property Name="Addresses" Type="Collection(S.Address)"/><Property Name="Place" Type="Edm.GeographyPoint"/>
        <Property Name="Photo" Type="Edm.Stream"/><NavigationProperty Name="Items" Type="Collection(S.Item)"/>
        <NavigationProperty Name="Supplier" Type="S.Supplier"/>
        <NavigationProperty Name="Related" Type="Collection(S.Product)"/></EntityType>
        <EntityType Name="Special" BaseType="S.Product"><Property Name="Extra" Type="Edm.Int32"/>
        <NavigationProperty Name="Best" Type="S.Product"/></EntityType>
        <EntityType Name="Item"><Key><PropertyRef Name="Line"/><PropertyRef Name="Part"/></Key>
        <Property Name="Line" Type="Edm.Int32" Nullable="false"/><Property Name="Text" Type="Edm.String"/>
        <Property Name="Part" Type="Edm.String" Nullable="false"/></EntityType>
        <EntityType Name="Supplier"><Key><PropertyRef Name="Name"/></Key>
        <Property Name="Name" Type="Edm.String" Nullable="false"/><NavigationProperty Name="Main" Type="S.Product"/>
        <NavigationProperty Name="Products" Type="Collection(S.Product)"/></EntityType>
        <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/><Property Name="Zip" Type="Edm.Int32"/>
        <NavigationProperty Name="Country" Type="S.Supplier"/></ComplexType>
        <EnumType Name="Colour" IsFlags="true"><Member Name="Red" Value="1"/><Member Name="Blue" Value="2"/></EnumType>
        <Function Name="Top" IsBound="true" IsComposable="true"><Parameter Name="it" Type="Collection(S.Product)"/>
        <Parameter Name="N" Type="Edm.Int32"/><Parameter Name="By" Type="Edm.String"/>
        <ReturnType Type="Collection(S.Product)"/></Function>
        <Function Name="Best" IsBound="true" IsComposable="true"><Parameter Name="it" Type="Collection(S.Product)"/>
        <ReturnType Type="S.Product"/></Function>
        <Function Name="Condense" IsBound="true"><Parameter Name="it" Type="Collection(S.Product)"/>
        <Parameter Name="N" Type="Edm.Int32"/><ReturnType Type="Collection(S.Product)"/></Function>
        <Function Name="Near" IsBound="true"><Parameter Name="it" Type="S.Product"/>
        <Parameter Name="Of" Type="Edm.GeographyPoint"/><ReturnType Type="Edm.Boolean"/></Function>
        <Function Name="Rated" IsComposable="true"><Parameter Name="Least" Type="Edm.Int32"/>
        <ReturnType Type="Collection(S.Product)"/></Function>
        <Action Name="Discount" IsBound="true"><Parameter Name="it" Type="Collection(S.Product)"/></Action>
        <EntityContainer Name="C"><EntitySet Name="Products" EntityType="S.Product"/>
        <EntitySet Name="Suppliers" EntityType="S.Supplier"/><Singleton Name="Star" Type="S.Product"/>
        <FunctionImport Name="Rated" Function="S.Rated" EntitySet="Products"/></EntityContainer></Schema>
        </edmx:DataServices></edmx:Edmx>
        """

    private let model: EntityDataModel
    private let product: EntityType
    private let grammar: Grammar
    private let seed: UInt64
    private var random: SeededRandom

    init() throws {
        model = try CSDLReader.read(Array(Self.metadata.utf8))
        product = try #require(model.findEntityType("S.Product"))
        grammar = try Grammar(TypedGrammar.text)
        seed = ProcessInfo.processInfo.environment["TIDELOG_SEED"].flatMap { UInt64($0) } ?? 1
        random = SeededRandom(seed: seed)
    }

    private mutating func sentences(_ rule: String, count: Int = 300) -> [String] {
        print("grammar walk: \(rule), seed \(seed)")
        return (0..<count).map { number in
            let text = grammar.sentence(of: rule, depth: 4 + number % 9, using: &random)
            return text.replacing("DQ", with: "\"")
        }
    }

    /// Percent-encodes the characters that the value of an option must not contain.
    private func encoded(_ text: String) -> String { PercentCoding.encode(text, for: .queryValue) }

    @Test(arguments: ["bool", "num", "str", "strings", "dat", "mom", "dur", "tim", "point", "numChoice", "boolChoice"])
    func `every generated expression is well-typed and survives printing and parsing`(rule: String) throws {
        var copy = self
        for text in copy.sentences(rule) {
            guard text.utf8.count < 2_000 else { continue }
            do {
                let expression = try Expression.parse(text, version: .v401)
                _ = try expression.typeCheck(against: product, model: model, version: .v401)
                let printed = try expression.print(version: .v401)
                let again = try Expression.parse(printed, version: .v401)
                #expect(again == expression, "\(text) → \(printed)")
                evaluate(expression)
            } catch  where error.code != .tooComplex {
                Issue.record("\(text): \(error)")
            } catch {}
        }
    }

    /// Evaluates the expression. The result is a value or an error with a message, never a trap.
    private func evaluate(_ expression: Expression) {
        let values: PropertyValues = [
            "ID": .integer(1), "Name": .string("a"), "Price": .null, "Weight": .double(1.5), "Paid": .boolean(true),
            "Tags": .collection([.string("a"), .null]), "Took": .null, "Colour": .enumeration("Red"),
        ]
        let now = GlobalDateTime("2024-03-01T00:00:00Z")
        let leaf = EvaluationScope(values, type: product)
        let scope = EvaluationScope(
            property: { name in
                switch name {
                case "Related": .entities([leaf])
                case "Items": .entities([])
                case "Supplier": .entity(nil)
                default: leaf.property(name)
                }
            }, type: product)
        do {
            _ = try ExpressionEvaluator(now: now, model: model).evaluate(expression, for: scope)
        } catch {
            #expect(!error.message.isEmpty)
        }
    }

    @Test(arguments: ["option"])
    func `every generated query option is well-typed and survives printing and parsing`(rule: String) throws {
        var copy = self
        for text in copy.sentences(rule, count: 1_000) {
            guard text.utf8.count < 2_000, let equals = text.firstIndex(of: "=") else { continue }
            try checkOptions(text[...equals] + encoded(String(text[text.index(after: equals)...])))
        }
    }

    @Test func `every generated transformation is well-typed and survives printing and parsing`() throws {
        var copy = self
        for text in copy.sentences("transformations", count: 1_000) where text.utf8.count < 2_000 {
            try checkOptions("$apply=" + encoded(text))
        }
    }

    @Test(arguments: [
        "$apply=aggregate($root/Star/Price with average as A1)",
        "$apply=orderby(Name)/aggregate($root/Products/Price with max as A1)",
    ])
    func `an absolute path can be aggregated`(query: String) throws { try checkOptions(query) }

    private func checkOptions(_ query: String) throws {
        do {
            let options = try QueryOptions.parse(query, version: .v401, type: product, model: model)
            let printed = try options.print(version: .v401)
            let again = try QueryOptions.parse(printed, version: .v401, type: product, model: model)
            #expect(again == options, "\(query) → \(printed)")
        } catch  where error.code != .tooComplex {
            Issue.record("\(try PercentCoding.decode(query)): \(error)")
        } catch {}
    }

    @Test func `every generated resource path parses`() throws {
        var copy = self
        for text in copy.sentences("resource", count: 1_000) where text.utf8.count < 1_000 {
            let path = text.replacing("%", with: "%25").replacing("%252F", with: "%2F").replacing("?", with: "%3F")
            // Only `$filter` accepts a slash in a string. In all other positions the slash is percent-encoded.
            do {
                _ = try ServiceRequest.parse(path + "?@p=1", model: model, version: .v401)
            } catch  where error.code != .tooComplex {
                Issue.record("\(path): \(error)")
            } catch {}
        }
    }

    @Test func `changed query options never trap, and accepted ones survive printing and parsing`() throws {
        var copy = self
        let alphabet = Array("()',;:$/@%&=[]{}\"-+. 0aT\u{e9}")
        for text in copy.sentences("option", count: 1_000) {
            var characters = Array(text.prefix(500))
            for _ in 0...Int.random(in: 0...2, using: &copy.random) {
                let place = Int.random(in: 0...characters.count, using: &copy.random)
                if Bool.random(using: &copy.random), place < characters.count {
                    characters.remove(at: place)
                } else if let new = alphabet.randomElement(using: &copy.random) {
                    characters.insert(new, at: place)
                }
            }
            let query = String(characters)
            for version in [ODataVersion.v401, .v4, .v2] {
                guard let options = try? QueryOptions.parse(query, version: version),
                    let printed = try? options.print(version: version)
                else { continue }
                let again = try? QueryOptions.parse(printed, version: version)
                #expect(again == options, "\(query) → \(printed)")
            }
        }
    }
}
