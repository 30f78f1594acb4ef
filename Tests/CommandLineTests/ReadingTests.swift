import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct ReadingTests {
    @Test func `init with named queries prints the queries of the store`() throws {
        let server = try SandboxServer(isReused: false)
        let workspace = try Workspace()
        workspace.origin = server.origin
        let made = try workspace.tidelog(
            "init", server.root(.v4), "--query", "C=Customers", "--query",
            "O=/Orders?$filter=Quantity gt 2&$expand=Customer")
        #expect(
            made
                == Run(
                    status: 0,
                    output: """
                        Store .tidelog of http://HOST/v4/ (OData 4.0).
                        2 defining queries:
                          C = Customers
                          O = Orders?$filter=Quantity gt 2&$expand=Customer
                        Run 'tidelog pull' to download them.

                        """))
        // The second `init` finds the service in the store, needs no network and keeps the content.
        server.stop()
        #expect(try workspace.tidelog("init", server.root(.v4)) == made)
        #expect(
            try workspace.output("init", server.root(.v4), "--query", "P=Prices")
                == """
                Store .tidelog of http://HOST/v4/ (OData 4.0).
                3 defining queries:
                  C = Customers
                  O = Orders?$filter=Quantity gt 2&$expand=Customer
                  P = Prices
                Run 'tidelog pull' to download them.

                """)
    }

    @Test func `init without named queries adds one for each entity set`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace()
        let lines = try workspace.tidelog("init", server.root(.v2)).lines
        #expect(lines[1] == "One defining query for each of the 15 entity sets, because no query was given:")
        #expect(lines[2...16].allSatisfy { $0.hasPrefix("  ") })
        #expect(try workspace.output("pull") == "Read 39 entities in 15 pages.\n")
        let query =
            #"{"name":"Customers","mode":"full","pages":1,"inserted":0,"changed":0,"unchanged":3,"removed":0}"#
        let nothing =
            #""unusable":[],"failures":[],"withoutStreams":[],"repeated":[],"quarantined":[],"unknownSections":[]"#
        #expect(
            try workspace.output("pull", "Customers", "--json")
                == #"{"entities":3,"pages":1,"skipped":[],"queries":[\#(query)],"fresh":[],\#(nothing)}"# + "\n")
    }

    @Test func `query prints a table`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4)
        #expect(
            try workspace.output("query", "Orders?$expand=Customer&$orderby=OrderID desc")
                == """
                readLink   OrderID  CustomerID  Note                   Amount  Quantity             Total  PlacedAt                      Customer
                ---------  -------  ----------  ------------------  ---------  --------  ----------------  ----------------------------  ------------
                Orders(4)        4        null  without a customer    99.9900         2               200  2024-04-01 12:00:00Z
                Orders(3)        3           2  nanoseconds           11.8000         1  9007199254740993  2024-03-10 08:00:00+02:00     Customers(2)
                Orders(2)        2           1  punched cards          0.1250     10000              1250  2024-02-29 23:59:59.1234567Z  Customers(1)
                Orders(1)        1           1  engine parts        1200.5000         3              3601  2024-01-15 09:30:00Z          Customers(1)

                4 entities.

                """)
        #expect(
            try workspace.output("query", "Customers?$count=true&$top=1&$select=Name")
                == """
                readLink      CustomerID  Name
                ------------  ----------  ------------
                Customers(1)           1  Ada Lovelace

                1 entity of 3.

                """)
        #expect(try workspace.output("query", "Customers?$filter=Rating lt 1") == "0 entities.\n")
        #expect(try workspace.output("query", "Customers/$count") == "3\n")
    }

    @Test func `query --json prints one object per line, with expanded entities inside`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4)
        let ada =
            #"{"@readLink":"Customers(1)","@entityID":1,"@state":"clean","CustomerID":1,"Name":"Ada Lovelace","#
            + #""Address":{"Street":"Rue du Port 5","City":"Genève","Zip":"1204"},"Tags":["vip","math"],"Rating":4.75,"Since":"2019-03-01""#
        let order =
            #"{"@readLink":"Orders(3)","@entityID":6,"@state":"clean","OrderID":3,"CustomerID":2,"Note":"nanoseconds","#
            + #""Amount":11.8000,"Quantity":1,"Total":9007199254740993,"PlacedAt":"2024-03-10T08:00:00+02:00""#
        #expect(try workspace.output("query", "Customers(1)", "--json") == ada + "}\n")
        #expect(
            try workspace.output("query", "Orders(3)?$expand=Customer($select=Name)", "--json")
                == order
                + #","Customer":{"@readLink":"Customers(2)","@entityID":2,"@state":"clean","CustomerID":2,"Name":"Grace Hopper"}}"#
                + "\n")
        #expect(
            try workspace.output(
                "query", "Customers?$select=Name&$expand=Orders($select=Note)&$filter=CustomerID le 2", "--json")
                    == """
                    {"@readLink":"Customers(1)","@entityID":1,"@state":"clean","CustomerID":1,"Name":"Ada Lovelace",\
                    "Orders":[{"@readLink":"Orders(1)","@entityID":4,"@state":"clean","OrderID":1,"Note":"engine parts"},\
                    {"@readLink":"Orders(2)","@entityID":5,"@state":"clean","OrderID":2,"Note":"punched cards"}]}
                    {"@readLink":"Customers(2)","@entityID":2,"@state":"clean","CustomerID":2,"Name":"Grace Hopper",\
                    "Orders":[{"@readLink":"Orders(3)","@entityID":6,"@state":"clean","OrderID":3,"Note":"nanoseconds"}]}

                    """)
        #expect(
            try workspace.output("query", "Orders(4)?$select=Note&$expand=Customer", "--json").contains(
                #""Customer":null"#))
    }

    @Test func `values of a V2 service are printed like those of V4`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v2)
        #expect(
            try workspace.output("query", "Orders(3)", "--json")
                == #"{"@readLink":"Orders(3)","@entityID":6,"@state":"clean","OrderID":3,"CustomerID":2,"Note":"nanoseconds","#
                + #""Amount":11.8000,"Quantity":1,"Total":9007199254740993,"PlacedAt":"2024-03-10T08:00:00+02:00"}"#
                + "\n")
    }

    @Test func `a closed output pipe ends the program without a message`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4)
        try workspace.write(
            (1...3_000).map { #"{"op":"create","set":"Customers","value":{"Name":"Customer number \#($0)"}}"# }
                .joined(separator: "\n"), to: "many.jsonl")
        let lines = try workspace.tidelog("apply", "many.jsonl").lines
        #expect(lines.count == 3_000)
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        let tidelog = Executable.url.path
        shell.arguments = [
            "-c", "{ '\(tidelog)' query Customers --json; echo $? > status; } 2> errors | head -1 > first",
        ]
        shell.currentDirectoryURL = workspace.folder
        try shell.run()
        shell.waitUntilExit()
        #expect(workspace.read("first").hasPrefix(#"{"@readLink":"Customers(1)""#))
        #expect(workspace.read("errors") == "")
        #expect(workspace.read("status") == "0\n")
    }
}
