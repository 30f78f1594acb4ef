import Foundation
import TestSupport
import Testing

/// Tests of `diff`, `bisect`, `watch`, `what-if` and `minimise`.
@Suite(.timeLimit(.minutes(20))) struct FindingTests {
    /// Returns a store with three customers and four orders in the records up to 8, then an update, two creations and
    /// an upload.
    private func workspace(_ server: SandboxServer) throws -> Workspace {
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"])
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"Eve"}"#)
        _ = try workspace.output("create", "Customers", #"{"Name":"Neu"}"#)
        _ = try workspace.output("create", "Orders", #"{"Note":"x"}"#, "--bind", "Customer=Customers(~8)")
        return workspace
    }

    private func withoutTimes(_ text: String) -> String {
        text.replacing(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ/, with: "TIME")
    }

    @Test func `diff prints the added, removed and changed entities of two states`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        let run = try workspace.tidelog("diff", "8", "now")
        #expect(
            run.output == """
                ~ Customers(1)
                    ~ Name: 'Ada Lovelace' → 'Eve'
                + Customers(~8)
                    + Name: 'Neu'
                    + Orders → Orders(~9)
                + Orders(~9)
                    + Note: 'x'
                2 added, 0 removed, 1 changed, of 9 entities.

                """)
        #expect(run.status == 1)
        let back = try workspace.tidelog("diff", "now", "8", "Orders", "--json")
        #expect(
            back.output
                == #"{"change":"removed","set":"Orders","entity":"Orders(~9)","entityID":9,"properties":[{"name":"Note","before":"x"}],"links":[]}"#
                + "\n")
        #expect(back.status == 1)
        #expect(try workspace.output("diff", "9", "9") == "No difference in 7 entities.\n")
        #expect(try workspace.output("diff", "8", "now", "Customers(2)") == "No difference in 1 entity.\n")
    }

    @Test func `diff exits with a distinct code if the states cannot be compared`() throws {
        let workspace = try workspace(try SandboxServer())
        let missing = try workspace.tidelog("diff", "nowhere", "now")
        #expect(missing.status == 70)
        #expect(missing.error == "tidelog: There is no log in nowhere/log. Run 'tidelog init' first.\n")
        let set = try workspace.tidelog("diff", "8", "now", "Nothing")
        #expect(set.status == 70)
        #expect(set.error == "tidelog: There is no entity set Nothing. Check the name in the metadata.\n")
        let entity = try workspace.tidelog("diff", "8", "now", "Customers(77)")
        #expect(entity.status == 70)
        #expect(entity.error.hasPrefix("tidelog: Customers(77) is in neither of the two states."))
        #expect(try workspace.tidelog("diff", "live", "live").status == 70)
        #expect(try workspace.tidelog("diff", "8").status == 64)
    }

    @Test func `a store is compared with its service`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        #expect(try workspace.output("diff", "8", "live") == "No difference in 7 entities.\n")
        let run = try workspace.tidelog("diff", "live", "now")
        #expect(
            run.output == """
                ~ Customers(1)
                    ~ Name: 'Ada Lovelace' → 'Eve'
                + Customers(~8)
                    + Name: 'Neu'
                    + Orders → Orders(~9)
                + Orders(~9)
                    + Note: 'x'
                2 added, 0 removed, 1 changed, of 9 entities.

                """)
        #expect(run.status == 1)
    }

    @Test func `diff compares the properties of all defining queries with the service`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(
            server, .v4, queries: ["A=Customers?$select=CustomerID,Rating", "B=Customers"])
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"Eve"}"#)
        let run = try workspace.tidelog("diff", "live", "now")
        #expect(
            run.output == """
                ~ Customers(1)
                    ~ Name: 'Ada Lovelace' → 'Eve'
                0 added, 0 removed, 1 changed, of 3 entities.

                """)
        let set = try workspace.tidelog("diff", "now", "live", "Nope")
        #expect(set.status == 70)
        #expect(set.error == "tidelog: There is no entity set Nope. Check the name in the metadata.\n")
        withExtendedLifetime(server) {}
    }

    @Test func `diff compares a store with a copy that has further changes`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        try FileManager.default.copyItem(atPath: workspace.path(".tidelog"), toPath: workspace.path("copy"))
        #expect(try workspace.output("diff", "now", "copy") == "No difference in 9 entities.\n")
        _ = try workspace.output("update", "Customers(2)", #"{"Name":"Zwei"}"#, "--store", "copy")
        let run = try workspace.tidelog("diff", "now", "copy", "Customers")
        #expect(run.lines.first == "~ Customers(2)")
        #expect(run.lines.count == 3)
        #expect(try workspace.output("diff", "now", "copy@11") == "No difference in 9 entities.\n")
    }

    @Test func `diff treats entities without a key in two stores as different even if their IDs are equal`() throws {
        let server = try SandboxServer()
        let (one, other) = (try workspace(server), try workspace(server))
        let run = try one.tidelog("diff", "now", other.path(".tidelog"), "Customers(~8)")
        #expect(
            run.output == """
                - Customers(~8)
                    - Name: 'Neu'
                    - Orders → Orders(~9)
                + Customers(~8)
                    + Name: 'Neu'
                    + Orders → Orders(~9)
                1 added, 1 removed, 0 changed, of 2 entities.

                """)
        for workspace in [one, other] {
            _ = try workspace.output("update", "Orders(~9)", "{}", "--bind", "Customer=Customers(1)")
        }
        let linked = try one.tidelog("diff", "now", other.path(".tidelog"), "Customers(1)")
        #expect(
            linked.output == """
                ~ Customers(1)
                    - Orders → Orders(~9)
                    + Orders → Orders(~9)
                0 added, 0 removed, 1 changed, of 1 entity.

                """)
    }

    @Test func `bisect prints its evaluations and its result`() throws {
        let workspace = try workspace(try SandboxServer())
        let run = try workspace.tidelog("bisect", "--good", "8", "--when", "Customers?$filter=Name eq 'Neu'")
        #expect(
            withoutTimes(run.output) == """
                9: is false
                10: holds
                The condition is first true after operation 10.
                10  TIME  create Customers(~8) Name='Neu'
                2 evaluations of 3 at most.

                """)
        #expect(run.status == 0)
        let json = try workspace.output("bisect", "--when", "Orders(~9)", "--json")
        #expect(json.hasPrefix(#"{"outcome":"found","sequence":11,"time":"20"#))
        #expect(json.contains(#","good":0,"bad":11,"evaluations":[{"sequence":5,"holds":false},"#))
        let never = try workspace.tidelog("bisect", "--good", "10", "--when", "Customers(99)")
        #expect(never.status == 1)
        #expect(
            never.output == """
                10: is false
                11: is false
                The condition is false after operation 11, so it is not a bad place.
                2 evaluations of 2 at most.

                """)
        let already = try workspace.tidelog("bisect", "--good", "8", "--bad", "9", "--when", "Customers(1)")
        #expect(already.lines.contains("The condition is already true after operation 8, so it is not a good place."))
    }

    @Test func `a bisect runs a command on a copy of the store`() throws {
        let workspace = try workspace(try SandboxServer())
        let tidelog = Executable.url.path
        let command = "test $(\(tidelog) query --store {} 'Orders/$count') -lt 5 && test -d $TIDELOG_STORE"
        let run = try workspace.tidelog("bisect", "--good", "8", "--run", command)
        #expect(run.lines.contains("The condition is first true after operation 11."))
        #expect(run.status == 0)
        let lost = try workspace.tidelog("bisect", "--good", "8", "--run", "exit 200")
        #expect(lost.status == 1)
        #expect(lost.error.hasPrefix("tidelog: The command ended with exit code 200, which is not a judgment."))
        let skipping = try workspace.tidelog("bisect", "--good", "8", "--run", "exit 125")
        #expect(skipping.lines.contains("It is one of the operations 8 to 11, which could not all be judged."))
    }

    @Test func `bisect reports an invalid condition and requires one`() throws {
        let workspace = try workspace(try SandboxServer())
        let wrong = try workspace.tidelog("bisect", "--when", "Customers?$filter=Nam eq 1")
        #expect(wrong.status == 1)
        #expect(wrong.error.contains("Nam"))
        #expect(try workspace.tidelog("bisect").status == 64)
        #expect(try workspace.tidelog("watch", "Customers(1)", "--all", "--reverse").status == 64)
    }

    @Test func `watch prints the records at which the condition changes`() throws {
        let workspace = try workspace(try SandboxServer())
        let condition = "Customers?$filter=Name eq 'Ada Lovelace'"
        let all = try workspace.tidelog("watch", condition, "--all")
        #expect(
            withoutTimes(all.output) == """
                5  TIME  becomes true  page of C: 3 entities
                9  TIME  becomes false  update Customers(~1) Name='Eve'
                11 operations folded, 7 evaluations.

                """)
        #expect(all.status == 0)
        #expect(try workspace.tidelog("watch", condition).lines.count == 2)
        let last = try workspace.output("watch", condition, "--reverse", "--json")
        #expect(
            withoutTimes(last)
                == #"{"sequence":9,"time":"TIME","holds":false,"summary":"update Customers(~1) Name='Eve'"}"# + "\n")
        let none = try workspace.tidelog("watch", "Customers(99)", "--from", "8")
        #expect(none.status == 1)
        #expect(none.lines.first == "The condition is false after operation 8 and does not change up to operation 11.")
    }

    @Test func `watch and bisect begin at the first record of a compacted store`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        _ = try workspace.output("push")
        _ = try workspace.output("compact", "--keep", "0b")
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"Last"}"#)
        let condition = "Customers?$filter=Name eq 'Last'"
        let watch = try workspace.tidelog("watch", condition)
        #expect(
            withoutTimes(watch.output) == """
                14  TIME  becomes true  update Customers(~1) Name='Last'
                1 operation folded, 3 evaluations.

                """)
        #expect(watch.error == "")
        let bisect = try workspace.tidelog("bisect", "--when", condition)
        #expect(
            withoutTimes(bisect.output) == """
                13: is false
                14: holds
                The condition is first true after operation 14.
                14  TIME  update Customers(~1) Name='Last'
                2 evaluations of 2 at most.

                """)
        #expect(bisect.error == "")
    }

    @Test func `what-if --skip of a creation refuses its dependents and changes the plan`() throws {
        let workspace = try workspace(try SandboxServer())
        let digest = try workspace.output("log", "--all", "--json")
        let run = try workspace.tidelog("what-if", "--skip", "10")
        #expect(
            run.output == """
                Operation 11 is refused: Entity(~8) is not in the store, or was deleted.
                - Customers(~8)
                    - Name: 'Neu'
                    - Orders → Orders(~9)
                - Orders(~9)
                    - Note: 'x'
                0 added, 2 removed, 0 changed; 1 record omitted.
                The next push sends:
                    PATCH Customers(1) {"Name":"Eve"}
                    POST Customers {"Name":"Neu"}
                    POST Orders {"Note":"x","Customer@odata.bind":"$2"}
                It would send:
                    PATCH Customers(1) {"Name":"Eve"}

                """)
        #expect(run.status == 0)
        #expect(try workspace.output("log", "--all", "--json") == digest)
    }

    @Test func `what-if --answer replaces a response and keeps the remaining operations`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        _ = try workspace.output("push")
        try workspace.write(#"{"error":{"code":"Stale","message":"Changed meanwhile."}}"#, to: "e.json")
        let run = try workspace.tidelog("what-if", "--answer", "9=412:e.json")
        #expect(run.status == 0)
        #expect(
            run.output == """
                Operation 9: done → rejected (412 Changed meanwhile.)
                0 added, 0 removed, 0 changed; 0 records omitted.
                No requests to send in either history.

                """)
        let none = try workspace.tidelog("what-if", "--skip", "99")
        #expect(none.error == "tidelog: The log has no operation 99. Run 'tidelog log' to list all operations.\n")
        #expect(none.status == 1)
        _ = try workspace.output("update", "Customers(2)", #"{"Name":"Zwei"}"#)
        let silent = try workspace.tidelog("what-if", "--answer", "14=412")
        #expect(
            silent.error
                == "tidelog: The log contains no response to operation 14. Run 'tidelog show 14' to see its outcome.\n")
        #expect(silent.status == 1)
        for arguments in [["--answer", "3=412"], ["--reorder", "3,9"]] {
            let run = try workspace.run(["what-if"] + arguments)
            #expect(
                run.error
                    == "tidelog: Record 3 is not an operation. Run 'tidelog log' to list the operations, or 'tidelog show 3' to see this record.\n"
            )
            #expect(run.status == 1)
        }
        #expect(try workspace.tidelog("what-if").status == 64)
        #expect(try workspace.tidelog("what-if", "--answer", "9").status == 64)
        #expect(try workspace.tidelog("what-if", "--reorder", "9,9").status == 64)
    }

    @Test func `what-if inserts and reorders operations`() throws {
        let workspace = try workspace(try SandboxServer())
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"Last"}"#)
        let reordered = try workspace.tidelog("what-if", "--reorder", "12,9")
        #expect(
            Array(reordered.lines.prefix(3)) == [
                "~ Customers(1)", "    ~ Name: 'Last' → 'Eve'",
                "0 added, 0 removed, 1 changed; 0 records omitted.",
            ])
        try workspace.write(#"{"op":"create","set":"Orders","value":{"Note":"in"}}"# + "\n", to: "lines")
        let inserted = try workspace.tidelog("what-if", "--insert", "lines", "--at", "9", "--json")
        #expect(
            inserted.lines.first
                == #"{"change":"added","set":"Orders","entity":"Orders(~10)","entityID":10,"properties":[{"name":"Note","after":"in"}],"links":[]}"#
        )
        #expect(inserted.lines.last?.hasPrefix(#"{"leftOutCount":0,"inserted":[10],"realPlan":["#) == true)
    }

    @Test func `minimise creates a small valid store in which the condition holds`() throws {
        let workspace = try workspace(try SandboxServer())
        let run = try workspace.tidelog(
            "minimise", "--when", "Orders?$filter=Note eq 'x'", "--output", "small", "--json")
        #expect(run.status == 0)
        #expect(run.output.contains(#""recordsBefore":11,"recordsAfter":3,"operationsAfter":2,"#))
        #expect(run.output.contains(#""kept":[1,10,11]"#))
        #expect(try workspace.output("query", "Orders/$count", "--store", "small") == "1\n")
        #expect(try workspace.output("verify", "--store", "small").hasSuffix("The log has no damage.\n"))
        _ = try workspace.output("update", "Orders(~9)", #"{"Note":"y"}"#, "--store", "small")
        let count = "\(Executable.url.path) query --store {} 'Orders/$count'"
        let command = "n=$(\(count)) || exit 125; test $n -lt 5"
        let judged = try workspace.tidelog("minimise", "--run", command, "--output", "judged", "--json")
        #expect(judged.output.contains(#""recordsAfter":4,"operationsAfter":2,"#))
        #expect(try workspace.output("query", "Orders/$count", "--store", "judged") == "5\n")
        let again = try workspace.tidelog("minimise", "--when", "Customers(1)", "--output", "small")
        #expect(again.error == "tidelog: small already exists. Choose another name.\n")
        let sound = try workspace.tidelog("minimise", "--when", "Customers(99)", "--output", "other")
        #expect(sound.status == 1)
        #expect(sound.error.hasPrefix("tidelog: The condition does not hold at the end of the log"))
    }
}
