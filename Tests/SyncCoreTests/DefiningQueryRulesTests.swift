import EDM
import Foundation
import Operations
import SyncCore
import Testing

/// Valid defining queries, and the rules for their removal.
struct DefiningQueryRulesTests {
    private static func model() throws -> EntityDataModel { try CSDLReader.read(TestModel.service.metadata) }

    @Test(
        arguments: [
            ("Customers", nil),
            ("Customers?$filter=Name eq 'a'&$expand=Orders&$select=Name&$orderby=Name&$top=3", nil),
            ("Customers(1)", nil),
            ("Customers(1)?$expand=Orders", nil),
            ("Nothing", "no entity set"),
            ("Customers?$filter=Nothing eq 1", "Nothing"),
            ("Customers(1)/Name", "must lead to an entity set or a single entity"),
            ("Customers(1)/Orders", "must lead to an entity set or a single entity"),
            ("Customers/$count", "must lead to an entity set or a single entity"),
            ("Customers(1)/Orders/$ref", "must lead to an entity set or a single entity"),
            ("$metadata", "must lead to an entity set or a single entity"),
            ("Customers?$apply=groupby((Name))", "$apply"),
            ("Customers?$filter=Name eq 'a' and not sap.islocal()", "which only the store can evaluate"),
            ("Customers?$expand=Orders($filter=sap.haspendingchanges())", "which only the store can evaluate"),
            ("Customers?$skiptoken=4", "a token of the service"),
            ("Customers?$deltatoken=4", "a token of the service"),
        ] as [(String, String?)])
    func `the path of a defining query addresses an entity set or an entity, and its options select among entities`(
        _ query: String, _ reason: String?
    ) throws {
        let refused = DefiningQueryRules.refusal(of: DefiningQuery(name: "Q", query: query), in: try Self.model())
        guard let reason else {
            #expect(refused == nil)
            return
        }
        let message = try #require(refused?.message)
        #expect(message.contains("The defining query Q"))
        // The parser determines the message for a syntax error.
        if reason != "no entity set" { #expect(message.contains(reason), "\(message)") }
    }

    @Test func `a defining query requires a name`() throws {
        #expect(DefiningQueryRules.refusal(of: DefiningQuery(name: "", query: "Orders"), in: try Self.model()) != nil)
    }

    @Test func `a configuration file may begin with a byte order mark`() throws {
        let text = "[defining_query]\nname = Q\nis_shared_data = Y\n"
        #expect(try DefiningQueryFile("\u{FEFF}" + text) == DefiningQueryFile(text))
        #expect(try DefiningQueryFile("\u{FEFF}" + text.replacing("\n", with: "\r\n")).settings.keys.contains("Q"))
    }

    private static func state(run: SequenceNumber, _ query: String = "Orders", streams: Bool = false) -> QueryState {
        QueryState(
            query: DefiningQuery(name: "Q", query: query, automaticallyRetrievesStreams: streams), run: run,
            isComplete: run != 0)
    }

    @Test
    func
        `a query can be removed before its first download, and later unless a setting or pending operations forbid it`()
    {
        let kept = DefiningQuerySettings(allowsRemoval: false)
        func refusal(
            _ state: QueryState, _ settings: DefiningQuerySettings?,
            _ pending: [(operation: SequenceNumber, entity: String)] = [], hasEntities: Bool = false
        ) -> String? {
            DefiningQueryRules.refusalOfRemoval(
                of: state, settings, hasEntities: hasEntities, pending: pending)?.message
        }
        #expect(refusal(Self.state(run: 0), kept) == nil)
        #expect(refusal(Self.state(run: 0), kept, hasEntities: true) != nil)
        #expect(refusal(Self.state(run: 0), nil, [(12, "Orders(1)")], hasEntities: true) != nil)
        #expect(refusal(Self.state(run: 7), nil) == nil)
        #expect(
            refusal(Self.state(run: 7), kept) == "The defining query Q cannot be removed after its first download.")
        #expect(refusal(Self.state(run: 7, "Orders(1)", streams: true), kept) == nil)
        #expect(refusal(Self.state(run: 7, "Orders", streams: true), kept) != nil)
        #expect(
            refusal(Self.state(run: 7), nil, [(12, "Orders(1)"), (15, "Orders(2)")])
                == "Entities that only the defining query Q covers have pending operations: 12 (Orders(1)), 15 (Orders(2))."
        )
    }
}

/// Parsing of the configuration file of defining queries.
struct DefiningQueryFileTests {
    @Test func `a section contains only the changed settings, in any order, with comments and spaces`() throws {
        let file = try DefiningQueryFile(
            """
            # Events are the same for all.
            [defining_query]
            is_shared_data=Y
            name = Events in 10000 = ten

              ; nothing
            [defining_query]\r
            name=Orders
            refresh_interval=0
            track_deltas = NEVER
            delta_token_lifetime = 60
            allow_defining_query_removal = N
            """)
        #expect(
            file.settings == [
                "Events in 10000 = ten": DefiningQuerySettings(isSharedData: true),
                "Orders": DefiningQuerySettings(
                    refreshInterval: 0, trackDeltas: .never, deltaTokenLifetime: 60, allowsRemoval: false),
            ])
        #expect(try DefiningQueryFile("").settings.isEmpty)
    }

    @Test func `the example of the documentation is parsed`() throws {
        let docs = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Docs/DefiningQueries.md")
        let text = String(decoding: try Data(contentsOf: docs), as: UTF8.self)
        let example = try #require(text.components(separatedBy: "```ini\n").last?.components(separatedBy: "```").first)
        let settings = try DefiningQueryFile(example).settings
        #expect(settings["Features"] == DefiningQuerySettings(isSharedData: true, refreshInterval: 60))
        #expect(
            settings["Sessions"]
                == DefiningQuerySettings(trackDeltas: .always, deltaTokenLifetime: 1_440, allowsRemoval: false))
    }

    @Test(arguments: [
        ("name = A", 1, "follows the line"),
        ("[endpoint]", 1, "no section [endpoint]"),
        ("[defining_query]\nshared = Y", 2, "no parameter shared"),
        ("[defining_query]\nname", 2, "not of the form"),
        ("[defining_query]\nname =", 2, "must be the name of a query"),
        ("#\n[defining_query]\nis_shared_data = Y", 2, "does not name its query"),
        ("[defining_query]\nname=A\nname=B", 3, "occurs twice"),
        ("[defining_query]\nname=A\n[defining_query]\nname=A", 3, "The query A already has a section"),
        ("[defining_query]\nname=A\nis_shared_data=yes", 3, "must be Y or N"),
        ("[defining_query]\nname=A\ntrack_deltas=auto", 3, "must be AUTO, ALWAYS, NEVER"),
        ("[defining_query]\nname=A\nrefresh_interval=-1", 3, "minutes from 0"),
        ("[defining_query]\nname=A\ndelta_token_lifetime=0", 3, "minutes from 1"),
        ("[defining_query]\nname=A\ndelta_token_lifetime=99999999999999999999", 3, "minutes from 1"),
    ])
    func `an invalid line is refused with its number`(_ text: String, _ line: Int, _ reason: String) throws {
        let error = #expect(throws: DefiningQueryFileError.self) { try DefiningQueryFile(text) }
        #expect(error?.line == line)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }
}
