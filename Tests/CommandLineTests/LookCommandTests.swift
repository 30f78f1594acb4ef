import Foundation
import TestSupport
import Testing

/// Tests of `log` with filters, `show`, `history`, `blame`, `why` and `segments`, each with its complete output.
@Suite(.timeLimit(.minutes(20))) struct LookCommandTests {
    /// Returns a store with a customer and an order that a push confirmed (9 to 12), an update, an undone update (14,
    /// 15) and a draft.
    private func workspace(_ server: SandboxServer) throws -> Workspace {
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"])
        _ = try workspace.output("create", "Customers", #"{"Name":"Neu"}"#)
        _ = try workspace.output("create", "Orders", #"{"Note":"n"}"#, "--bind", "Customer=Customers(~8)")
        _ = try workspace.output("push")
        _ = try workspace.output("update", "Customers(~8)", #"{"Name":"Later"}"#)
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"Eve"}"#, "--tag", "red")
        _ = try workspace.output("undo", "14")
        _ = try workspace.output("update", "Orders(1)", #"{"Note":"held"}"#, "--draft")
        return workspace
    }

    /// Replaces times and the sizes that depend on them, which differ from run to run.
    private func stable(_ text: String) -> String {
        text.replacing(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ/, with: "TIME")
            .replacing(#/(?<name>blockOffset"?|blockStoredBytes"?|blockRawBytes"?|payloadBytes"?)(?<colon>: ?)\d+/#) {
                "\($0.output.name)\($0.output.colon)N"
            }
    }

    private func output(_ workspace: Workspace, _ arguments: String...) throws -> String {
        let run = try workspace.run(arguments)
        return stable(run.output) + stable(run.error)
            + "[\(run.status)]"
    }

    @Test func `log filters operations and prints their dependencies`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        #expect(
            try output(workspace, "log", "--graph") == """
                     9  TIME  confirmed  create Customers(~8) Name='Neu'
                        └─ batch 1
                    10  TIME  confirmed  create Orders(~9) Note='n' · bind Customer → Customers(~8)
                        ├─ needs 9, which creates ~8
                        └─ batch 1
                    13  TIME  pending    update Customers(~8) Name='Later'
                        └─ needs 9, which creates ~8
                    14  TIME  undone     update Customers(~1) Name='Eve' · tag 'red'
                    15  TIME             1 operation undone: 14
                    16  TIME  pending    update Orders(~4) Note='held' · draft
                [0]
                """)
        #expect(
            try output(workspace, "log", "--entity", "Customers(4)", "--to", "12") == """
                     9  TIME  confirmed  create Customers(~8) Name='Neu'
                    10  TIME  confirmed  create Orders(~9) Note='n' · bind Customer → Customers(~8)
                    11  TIME             batch 1 prepared: 2 operations in 1 change set
                    12  TIME             batch 1 answered: 2 confirmed
                [0]
                """)
        #expect(
            try output(workspace, "log", "--state", "pending", "--set", "Orders") == """
                    16  TIME  pending    update Orders(~4) Note='held' · draft
                [0]
                """)
        #expect(
            try output(workspace, "log", "--batch", "1", "--kind", "create", "--graph", "--json", "--from", "10")
                == #"""
                {"sequence":10,"time":"TIME","kind":"operation","summary":"create Orders(~9) Note='n' · bind Customer → Customers(~8)","entities":[9,8],"action":"create","entity":9,"set":"Orders","type":"Shop.Order","values":{"Note":"n"},"bind":[{"navigation":"Customer","to":[8]}],"fate":"confirmed","dependsOn":[{"operation":9,"because":"creates","entity":8}],"batch":1}
                [0]
                """#)
        #expect(try output(workspace, "log", "--tag", "red").hasPrefix("    14  TIME  undone "))
        #expect(try output(workspace, "log", "--since", "2999-01-01") != "[0]")
        #expect(try output(workspace, "log", "--since", "2999-01-01T00:00:00") == "[0]")
        #expect(try output(workspace, "log", "--code", "409") == "[0]")
        #expect(try output(workspace, "log", "--state", "lost").hasSuffix("[64]"))
        #expect(try output(workspace, "log", "--entity", "Customers").hasSuffix("[64]"))
    }

    @Test func `log filters a compacted log by a set that only the snapshot contains`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        _ = try workspace.output("compact", "--keep", "0b")
        _ = try workspace.output("update", "Customers(2)", #"{"Name":"Zwei"}"#)
        _ = try workspace.output("update", "Orders(2)", #"{"Note":"zwei"}"#)
        let lines = try output(workspace, "log", "--set", "Customers")
        #expect(
            lines == """
                     1  Operations before 17 were compacted; a snapshot contains their result.
                    13  TIME  pending    update Customers(~8) Name='Later'
                    14  TIME  undone     update Customers(~1) Name='Eve' · tag 'red'
                    17  TIME  pending    update Customers(~2) Name='Zwei'
                [0]
                """)
    }

    @Test func `show and why use the snapshot for an operation whose record was removed`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        _ = try workspace.output("compact", "--keep", "0b")
        _ = try workspace.output("redo", "14")
        #expect(
            try output(workspace, "why", "13") == """
                Operation 13 waits for an upload.
                A compaction removed the records before 17; a snapshot contains the operation.
                [0]
                """)
        #expect(
            try output(workspace, "show", "14") == """
                sequence: 14
                time: "TIME"
                kind: "operation"
                summary: "update Customers(~1) Name='Eve' · tag 'red'"
                entities: [1]
                action: "update"
                entity: 1
                values:
                  Name: "Eve"
                customTag: "red"
                fate: "pending"
                compactedBefore: 17
                effects:
                  1:
                    sequence: 17
                    time: "TIME"
                    kind: "operationsRedone"
                    summary: "1 operation redone: 14"
                [0]
                """)
        #expect(try output(workspace, "show", "17").contains("causes:\n  1:\n    sequence: 14"))
        #expect(
            try output(workspace, "why", "9")
                == "tidelog: A compaction removed the records before 17, including 9. Run 'tidelog log --all' to list the records.\n[1]"
        )
    }

    @Test func `show prints a record with its position and its related records`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        #expect(
            try output(workspace, "show", "10") == #"""
                sequence: 10
                time: "TIME"
                kind: "operation"
                summary: "create Orders(~9) Note='n' · bind Customer → Customers(~8)"
                entities: [9,8]
                action: "create"
                entity: 9
                set: "Orders"
                type: "Shop.Order"
                values:
                  Note: "n"
                bind:
                  1:
                    navigation: "Customer"
                    to: [8]
                fate: "confirmed"
                kindNumber: 2
                payloadBytes: N
                place:
                  path: ".tidelog/log/00000000000000000001.segment"
                  blockOffset: N
                  blockStoredBytes: N
                  blockRawBytes: N
                  blockFirst: 10
                  blockLast: 10
                exchanges:
                  1:
                    batch: 1
                    operation: 10
                    prepared: 11
                    answered: 12
                    time: "TIME"
                    outcome: "confirmed"
                effects:
                  1:
                    sequence: 11
                    time: "TIME"
                    kind: "batchPrepared"
                    summary: "batch 1 prepared: 2 operations in 1 change set"
                  2:
                    sequence: 12
                    time: "TIME"
                    kind: "batchAnswered"
                    summary: "batch 1 answered: 2 confirmed"
                [0]
                """#)
        #expect(
            try output(workspace, "show", "10", "--requests").contains(
                #"""
                    outcome: "confirmed"
                    built:
                      comparison: "identical"
                      requests:
                        1:
                          method: "POST"
                          url: "Orders"
                          headers:
                            1:
                              name: "OData-Version"
                              value: "4.0"
                            2:
                              name: "OData-MaxVersion"
                              value: "4.01"
                            3:
                              name: "Accept"
                              value: "application/json"
                            4:
                              name: "Content-Type"
                              value: "application/json"
                          body: "{\"Note\":\"n\",\"Customer@odata.bind\":\"$1\"}"
                effects:
                """#))
        #expect(
            try output(workspace, "show", "15", "--json") == #"""
                {"sequence":15,"time":"TIME","kind":"operationsUndone","summary":"1 operation undone: 14","entities":[],"operations":[14],"kindNumber":17,"payloadBytes":N,"place":{"path":".tidelog/log/00000000000000000001.segment","blockOffset":N,"blockStoredBytes":N,"blockRawBytes":N,"blockFirst":15,"blockLast":15},"causes":[{"sequence":14,"time":"TIME","kind":"operation","summary":"update Customers(~1) Name='Eve' · tag 'red'"}]}
                [0]
                """#)
        #expect(
            try output(workspace, "show", "99")
                == "tidelog: The log has no record 99. Run 'tidelog log --all' to list the records.\n[1]")
    }

    @Test func `history and blame print the origin of values`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        #expect(
            try output(workspace, "history", "Customers(1)/Name") == """
                Customers(1) (~1)
                record  time                      part  value           cause
                ------  ------------------------  ----  --------------  ------------------------
                     5  TIME  Name  'Ada Lovelace'  download of C
                    14  TIME  Name  'Eve'           local edit, undone by 15
                    15  TIME  Name  'Ada Lovelace'  undo of operation 14
                [0]
                """)
        #expect(
            try output(workspace, "blame", "Orders(~9)") == """
                Orders(5) (~9)
                part        value         record  time                      written by
                ----------  ------------  ------  ------------------------  -----------------------------------------------------
                OrderID     5                 12  TIME  key assigned by the response to batch 1, operation 10
                CustomerID  4                 12  TIME  response to batch 1, operation 10
                Note        'n'               10  TIME  local edit, confirmed by batch 1
                Amount      null              12  TIME  response to batch 1, operation 10
                Quantity    null              12  TIME  response to batch 1, operation 10
                Total       null              12  TIME  response to batch 1, operation 10
                PlacedAt    null              12  TIME  response to batch 1, operation 10
                Customer    Customers(4)      10  TIME  local edit, confirmed by batch 1
                [0]
                """)
        #expect(
            try output(workspace, "history", "~8/Name", "--json") == #"""
                {"entity":8,"sequence":9,"time":"TIME","part":"property","name":"Name","after":"Neu","cause":{"kind":"edit","operation":9},"visible":true,"exchanges":[{"batch":1,"operation":9,"prepared":11,"answered":12,"time":"TIME","outcome":"confirmed"}]}
                {"entity":8,"sequence":13,"time":"TIME","part":"property","name":"Name","before":"Neu","after":"Later","cause":{"kind":"edit","operation":13},"visible":true}
                [0]
                """#)
        #expect(
            try output(workspace, "blame", "Orders(5)/Customer", "--json") == #"""
                {"entity":9,"part":"link","name":"Customer","value":["Customers(4)"],"sequence":10,"time":"TIME","cause":{"kind":"edit","operation":10},"exchanges":[{"batch":1,"operation":10,"prepared":11,"answered":12,"time":"TIME","outcome":"confirmed"}]}
                [0]
                """#)
        #expect(
            try output(workspace, "blame", "Customers(99)")
                == "tidelog: The log does not contain the entity Customers(99). Use a name that a query or 'tidelog log' prints, for example Customers(1) or Customers(~7).\n[1]"
        )
        #expect(try output(workspace, "blame", "Customers").hasSuffix("[64]"))
    }

    @Test func `why explains a value or an operation in a sentence`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        let sentences = [
            "Customers(1)/Name": """
            Customers(1)/Name is 'Ada Lovelace': download of C (record 5, TIME).
            Record 15 restored this value: undo of operation 14. Before record 15 it was 'Eve'.
            [0]
            """,
            "9": "Operation 9 was confirmed by the response to batch 1 at TIME (record 12).\n[0]",
            "13": "Operation 13 waits for an upload.\n[0]",
            "14": "Operation 14 was undone by record 15; its state before was pending.\n[0]",
            "16": """
            Operation 16 waits for an upload.
            It is not in the next batch: a draft that has not been released.
            [0]
            """,
            "2":
                "tidelog: Record 2 is not an operation: query C added: Customers. Run 'tidelog log' to list the operations, or 'tidelog show 2' to see this record.\n[1]",
        ]
        for (subject, expected) in sentences {
            let reported = try output(workspace, "why", subject)
            #expect(reported == expected)
        }
        #expect(
            try output(workspace, "why", "16", "--json") == #"""
                {"sequence":16,"fate":"pending","held":"a draft that has not been released","sentences":["Operation 16 waits for an upload.","It is not in the next batch: a draft that has not been released."]}
                [0]
                """#)
        #expect(try output(workspace, "why", "Customers(1)").hasSuffix("[64]"))
    }

    @Test func `segments prints one line for each file of the log`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        let lines = try output(workspace, "segments").split(separator: "\n").map(String.init)
        #expect(lines.count == 4)
        #expect(
            lines[0]
                == "first  last  state  from                      to                        records    raw  file  ratio"
        )
        #expect(lines[2].hasPrefix("    1    16  open   TIME  TIME       16"))
        let json = try output(workspace, "segments", "--json")
        #expect(
            json.hasPrefix(
                #"{"path":".tidelog/log/00000000000000000001.segment","firstSequence":1,"lastSequence":16,"state":"open","encrypted":false,"firstTime":"TIME","lastTime":"TIME","records":16,"rawBytes":"#
            ))
        _ = try workspace.output("compact", "--keep", "everything")
        #expect(try workspace.output("segments").contains("snapshot"))
    }

    @Test func `inspection commands work on damaged and encrypted logs`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        let offset = try #require(
            try workspace.output("show", "13", "--json").firstMatch(of: /"blockOffset":(\d+)/).flatMap {
                Int($0.output.1)
            })
        let file = workspace.folder.appendingPathComponent(".tidelog/log/00000000000000000001.segment")
        var bytes = try Data(contentsOf: file)
        bytes[offset + 50] ^= 0xFF
        try bytes.write(to: file)
        let blame = try output(workspace, "blame", "Customers(1)/Name")
        #expect(
            blame.hasSuffix(
                "download of C\ntidelog: The log .tidelog/log is damaged: 1 record is lost (13). The output is based on the readable records. "
                    + "Run 'tidelog repair' for details.\n[0]"))
        #expect(try output(workspace, "history", "~8/Name").contains("'Neu'"))
        #expect(try output(workspace, "why", "9").hasPrefix("Operation 9 was confirmed by the response to batch 1"))
        #expect(try output(workspace, "show", "9").hasSuffix("[0]"))
        #expect(try output(workspace, "log", "--entity", "~8").hasSuffix("[2]"))
        #expect(try output(workspace, "segments").hasSuffix("[2]"))

        let secret = try Workspace()
        secret.environment["TIDELOG_KEY"] = String(repeating: "ab", count: 32)
        _ = try secret.output("init", server.root(.v4), "--query", "C=Customers")
        _ = try secret.output("pull")
        _ = try secret.output("update", "Customers(1)", #"{"Name":"Eve"}"#)
        #expect(try output(secret, "blame", "Customers(1)/Name").contains("'Eve'"))
        #expect(
            try output(secret, "why", "Customers(1)/Name").hasPrefix("Customers(1)/Name is 'Eve': local edit, pending"))
        secret.environment["TIDELOG_KEY"] = nil
        for arguments in [["blame", "~1"], ["show", "1"], ["history", "~1"], ["why", "6"], ["segments"]] {
            let run = try secret.run(arguments)
            #expect(run.status == 1, "\(arguments)")
            #expect(run.error.contains("encrypted"), "\(arguments)")
        }
    }
}
