import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct ChangingTests {
    @Test(arguments: ["Customers(1)/Orders", "Customers(99)/Orders"])
    func `a path from an entity creates the new entity in it`(_ path: String) throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"])
        let value = #"{"Note":"in"}"#
        let other = try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"])
        #expect(
            try workspace.tidelog("create", path, value) == other.tidelog("create", "Orders", value, "--in", path))
    }

    @Test func `each change prints its sequence number and the link of the entity`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"])
        #expect(try workspace.output("create", "Customers", #"{"Name":"Neu"}"#) == "9 Customers(~8)\n")
        #expect(
            try workspace.output(
                "create", "Orders", "-", "--bind", "Customer=Customers(~8)", "--json", input: #"{"Note":"n"}"#)
                == #"{"sequence":10,"readLink":"Orders(~9)"}"# + "\n")
        #expect(
            try workspace.output("create", "Orders", #"{"Note":"in"}"#, "--in", "Customers(1)/Orders")
                == "11 Orders(~10)\n")
        #expect(try workspace.output("update", "Customers(1)", #"{"Rating":3.5}"#) == "12 Customers(1)\n")
        #expect(try workspace.output("link", "Customers(~8)", "Orders", "Orders(4)") == "13 Customers(~8)\n")
        #expect(try workspace.output("relink", "Orders(4)", "Customer", "Customers(2)") == "14 Orders(4)\n")
        #expect(try workspace.output("unlink", "Orders(3)", "Customer") == "15 Orders(3)\n")
        #expect(
            try workspace.output("delete", "Orders(1)", "--json") == #"{"sequence":16,"readLink":"Orders(1)"}"# + "\n")
        #expect(
            try workspace.output("status")
                == """
                operation  action                                      state    reason
                ---------  ------------------------------------------  -------  ------
                        9  create Customers(~8)                        pending
                       10  create Orders(~9)                           pending
                       11  create Orders(~10) in Customers(~1)/Orders  pending
                       12  update Customers(~1)                        pending
                       13  link Customers(~8)/Orders → Orders(~7)      pending
                       14  relink Orders(~7)/Customer → Customers(~2)  pending
                       15  unlink Orders(~6)/Customer → Customers(~2)  pending
                       16  delete Orders(~4)                           pending

                8 pending.

                """)
        #expect(
            try workspace.output("query", "Customers?$select=Name&$expand=Orders")
                == """
                readLink       CustomerID  Name            Orders                 state
                -------------  ----------  --------------  ---------------------  -------
                Customers(1)            1  Ada Lovelace    Orders(2) Orders(~10)  pending
                Customers(2)            2  Grace Hopper    Orders(4)
                Customers(3)            3  O'Neil & Söhne
                Customers(~8)              Neu             Orders(~9)             pending

                4 entities.

                """)
    }

    @Test func `the plan prints the exact bytes of the request`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        _ = try workspace.output("create", "Customers", #"{"Name":"Neu"}"#)
        #expect(
            try workspace.output("plan").replacing("\r\n", with: "\n")
                == """
                POST http://HOST/v4/$batch
                OData-Version: 4.0
                OData-MaxVersion: 4.01
                Accept: multipart/mixed
                Content-Type: multipart/mixed; boundary=batch_tidelog_1

                --batch_tidelog_1
                Content-Type: multipart/mixed; boundary=changeset_1_1

                --changeset_1_1
                Content-Type: application/http
                Content-Transfer-Encoding: binary
                Content-ID: 1

                POST Customers HTTP/1.1
                OData-Version: 4.0
                OData-MaxVersion: 4.01
                Accept: application/json
                Content-Type: application/json
                Content-Length: 14

                {"Name":"Neu"}
                --changeset_1_1--
                --batch_tidelog_1--

                """)
        _ = try workspace.output("push")
        #expect(
            try workspace.tidelog("plan") == Run(status: 0, output: "", error: "tidelog: No operations to send.\n"))
    }

    @Test func `an update of an entity that another client deleted is a conflict, stays pending and fails the push`()
        throws
    {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        let other = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        _ = try other.output("delete", "Customers(3)")
        #expect(
            try other.output("push", "--json").contains(#""confirmed":[6],"rejected":[],"inDoubt":[],"remaining":0"#))
        _ = try workspace.output("update", "Customers(3)", #"{"Name":"gone"}"#)
        _ = try workspace.output("update", "Customers(2)", #"{"Name":"there"}"#)
        let pushed = try workspace.tidelog("push")
        #expect(pushed.status == 1)
        #expect(pushed.lines.contains("Customers(3) waits: another client deleted it; see 'tidelog conflicts'."))
        #expect(pushed.lines.first?.hasPrefix("1 confirmed, 0 rejected, 0 in doubt, 1 in conflict (") == true)
        let status = try workspace.output("status", "--json")
        #expect(
            status.contains(#""state":"rejected","reason":"the service responded with 404: There is no Customers(3).""#)
        )
        #expect(try workspace.output("query", "Customers(3)", "--json").contains(#""@state":"error""#))
    }

    @Test func `a store of a V2 service accepts values in the formats of both versions`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v2, queries: ["O=Orders"])
        _ = try workspace.output(
            "create", "Orders", #"{"Total":"9007199254740993","PlacedAt":"/Date(1714903200000)/"}"#)
        _ = try workspace.output("create", "Orders", #"{"Total":9007199254740993,"PlacedAt":"2024-05-05T10:00:00Z"}"#)
        let lines = try workspace.tidelog("query", "Orders?$filter=OrderID eq null&$select=Total,PlacedAt", "--json")
            .lines
        let values = #""Total":9007199254740993,"PlacedAt":"2024-05-05T10:00:00Z"}"#
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.hasSuffix(values) }, "\(lines)")
        #expect(try workspace.tidelog("push").status == 0)
    }
}
