import Foundation
import TestSupport
import Testing

/// Tests of `tidelog replay` and `tidelog at`, each with the complete output.
@Suite(.timeLimit(.minutes(20))) struct ReplayCommandTests {
    /// Returns a store with an upload and a pending operation.
    private func workspace(_ server: SandboxServer) throws -> Workspace {
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        _ = try workspace.output("create", "Customers", #"{"Name":"Ada"}"#)
        _ = try workspace.output("push")
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"Eve"}"#)
        return workspace
    }

    /// Replaces hashes and sizes, which differ from run to run because the state contains the service's port.
    private func masked(_ text: String) -> String {
        text.replacing(#/\b[0-9a-f]{16}\b/#, with: "HASH").replacing(#/\d+ bytes/#, with: "N bytes")
            .replacing(#/"bytes":\d+/#, with: #""bytes":N"#)
    }

    @Test func `replay prints each record with the hash of its state, and whether batches are as sent`()
        throws
    {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        let lines = [
            "     1  HASH  service http://HOST/v4/ installed, metadata of N bytes",
            "     2  HASH  query C added: Customers",
            "     3  HASH  download started: C",
            "     4  HASH  page of C: 3 entities",
            "     5  HASH  download of C finished",
            "     6  HASH  create Customers(~4) Name='Ada'",
            "     7  HASH  batch 1 prepared: 1 operation in 1 change set · N bytes, as they were sent",
            "     8  HASH  batch 1 answered: 1 confirmed",
            "     9  HASH  update Customers(~1) Name='Eve'",
        ]
        #expect(masked(try workspace.output("replay")) == lines.joined(separator: "\n") + "\n")
        let some = lines[3] + "\n" + lines[7] + "\n" + lines[8] + "\n"
        #expect(masked(try workspace.output("replay", "--every", "4")) == some)
        #expect(masked(try workspace.output("replay", "--from", "5", "--to", "6")) == lines[5] + "\n")
        #expect(
            masked(try workspace.output("replay", "--from", "6", "--to", "7", "--json"))
                == #"{"sequence":7,"digest":"HASH","kind":"batchPrepared","summary":"batch 1 prepared: 1 operation in 1 change set","batch":{"batch":1,"bytes":N,"comparison":"identical"}}"#
                + "\n")
    }

    @Test func `replay --batches prints the bytes of a batch as plan did`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        _ = try workspace.output("create", "Customers", #"{"Name":"Ada"}"#)
        let plan = try workspace.output("plan")
        _ = try workspace.output("push")
        let shown = try workspace.output("replay", "--from", "6", "--to", "7", "--batches").split(
            separator: "\n", omittingEmptySubsequences: false
        ).dropFirst().map { String($0.dropFirst(8)) }
        let body = try #require(plan.range(of: "\r\n\r\n") ?? plan.range(of: "\n\n"))
        let planned = plan[body.upperBound...].split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        #expect(shown.filter { !$0.isEmpty } == planned.map(String.init).filter { !$0.isEmpty })
    }

    @Test func `replay --step prints the changes of each operation, and q ends it`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        let shown = masked(try workspace.tidelog("replay", "--from", "7", "--step", input: "\nq\n").output)
        #expect(
            shown == """
                     8  HASH  batch 1 answered: 1 confirmed
                        ~ Customers(~4)
                            CustomerID: unset → 4
                            Address: unset → null
                            Tags: unset → []
                            Rating: unset → null
                            Since: unset → null
                            known only here → known to the service
                        ~ operation 6: in flight in batch 1 → ended
                     9  HASH  update Customers(~1) Name='Eve'
                        ~ operation 9: new → pending
                        ~ Customers(~1)
                            Name: 'Ada Lovelace' → 'Eve'

                """)
    }

    // MARK: Check

    @Test func `replay --check confirms a sound store`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        #expect(
            masked(try workspace.output("replay", "--check")) == """
                9 records folded, from the first one.
                State HASH after operation 9, in memory and in SQLite.
                The views match the log up to operation 9.
                1 batch rebuilt: 1 as sent.

                """)
        #expect(
            masked(try workspace.output("replay", "--check", "--json"))
                == #"{"sound":true,"records":9,"lastSequence":9,"digest":"HASH","snapshots":[],"identicalBatches":1,"unknownBatches":0,"differentBatches":[],"views":"sound"}"#
                + "\n")
    }

    @Test func `replay --check --with reports a different run and exits with 1`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        let run = try workspace.output("replay", "--json")
        try workspace.write(run, to: "same")
        #expect(try workspace.tidelog("replay", "--check", "--with", "same").status == 0)
        try workspace.write(
            run.replacing(#/"sequence":6,"digest":"./#, with: #""sequence":6,"digest":"x"#), to: "broken")
        let broken = try workspace.tidelog("replay", "--check", "--with", "broken")
        #expect(broken.status == 1)
        #expect(
            broken.error
                == "tidelog: Line 6 of broken is not a line of 'tidelog replay --json'. Create the file with 'tidelog replay --json'.\n"
        )
        let other = #"{"sequence":6,"digest":"0123456789abcdef"}"# + "\n"
        try workspace.write(other, to: "other")
        let difference = try workspace.tidelog("replay", "--check", "--with", "other")
        #expect(difference.status == 1)
        #expect(
            masked(difference.output) == """
                6 records folded, from the first one.
                After operation 6 the other replay had the state HASH, and this one has another. Print more operations in both to find the first that differs.
                No batch was sent.

                """)
    }

    @Test func `replay --check --with reports an empty or longer run as a difference`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        try workspace.write("\n", to: "empty")
        let empty = try workspace.tidelog("replay", "--check", "--with", "empty")
        #expect(empty.status == 1)
        #expect(
            empty.error
                == "tidelog: empty is empty, so it cannot be compared. Create the file with 'tidelog replay --json'.\n"
        )
        let run = try workspace.output("replay", "--json")
        try workspace.write(run + #"{"sequence":10,"digest":"0123456789abcdef"}"# + "\n", to: "longer")
        let longer = try workspace.tidelog("replay", "--check", "--with", "longer")
        #expect(longer.status == 1)
        #expect(
            masked(longer.output) == """
                9 records folded, from the first one.
                The other replay continues to operation 10, which this log does not contain.
                1 batch rebuilt: 1 as sent.

                """)
        let json = try workspace.tidelog("replay", "--check", "--with", "longer", "--json")
        #expect(
            json.output.hasSuffix(
                #""divergence":{"kind":"ended","sequence":10,"reason":"The other replay continues to operation 10, which this log does not contain."}}"#
                    + "\n"))
    }

    // MARK: Against a service

    @Test func `replay --against compares the outcomes at another service with the recorded ones`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        let another = try SandboxServer()
        #expect(
            try workspace.output("replay", "--against", another.root(.v4))
                == """
                operation  then       now       what
                ---------  ---------  --------  ---------------------------------
                        6  confirmed  the same  create Customers(~4) Name='Ada'
                        9  pending    the same  update Customers(~1) Name='Eve'

                2 operations, 0 with another outcome.

                """.replacing("---------------------------------", with: "-------------------------------"))
        // The other service already contains the customer from the first replay.
        let repeated = try workspace.tidelog("replay", "--against", another.root(.v4), "--json")
        #expect(repeated.status == 0)
        #expect(
            repeated.lines.first
                == #"{"sequence":6,"summary":"create Customers(~4) Name='Ada'","same":true,"then":{"outcome":"confirmed"},"now":{"outcome":"confirmed"}}"#
        )
        withExtendedLifetime((server, another)) {}
    }

    @Test(arguments: ["nonsense", "http://127.0.0.1:1/"])
    func `replay --against refuses an address that is no service, also for a log without operations`(
        _ address: String
    ) throws {
        let server = try SandboxServer()
        let workspace = try Workspace()
        workspace.origin = server.origin
        _ = try workspace.output("init", server.root(.v4))
        let refused = try workspace.tidelog("replay", "--against", address)
        #expect(refused.status != 0)
        #expect(refused.output.isEmpty)
        #expect(refused.error.hasPrefix("tidelog: ") && refused.error.contains(address), "\(refused.error)")
        withExtendedLifetime(server) {}
    }

    // MARK: At

    @Test func `at accepts options on either side, and the last of two applies`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        try FileManager.default.moveItem(atPath: workspace.path(".tidelog"), toPath: workspace.path("s1"))
        let name = "Customers(1)/Name/$value"
        for arguments in [
            ["at", "8", "query", name, "--store=s1"], ["at", "--store", "s1", "8", "query", name],
            ["at", "8", "--store", "s1", "query", name],
            ["at", "--store", "none", "8", "query", name, "--store", "s1"],
        ] {
            let run = try workspace.run(arguments)
            #expect(run.output == "Ada Lovelace\n", "\(arguments)")
        }
        #expect(
            masked(try workspace.output("at", "--store", "s1", "6", "--json"))
                == #"{"sequence":6,"digest":"HASH","sets":{"Customers":4},"states":{"pending":1}}"# + "\n")
        let config = try workspace.tidelog("at", "8", "--store", "s1", "--config", "none", "status")
        #expect(config.status == 1)
        #expect(
            config.error == "tidelog: none cannot be read: No such file or directory. Check the name of the file.\n")
    }

    @Test func `at prints the state as of an operation, and the output of an inner command`() throws {
        let server = try SandboxServer()
        let workspace = try workspace(server)
        #expect(
            masked(try workspace.output("at", "6")) == """
                After operation 6, state HASH.

                set        entities
                ---------  --------
                Customers         4

                1 pending.

                """)
        #expect(
            masked(try workspace.output("at", "6", "--json"))
                == #"{"sequence":6,"digest":"HASH","sets":{"Customers":4},"states":{"pending":1}}"# + "\n")
        #expect(try workspace.output("at", "8", "query", "Customers(1)/Name/$value") == "Ada Lovelace\n")
        #expect(try workspace.output("at", "9", "query", "Customers(1)/Name/$value") == "Eve\n")
        let wrong = try workspace.tidelog("at", "6", "push")
        #expect(wrong.status == 64)
        #expect(wrong.error.contains("'push' cannot show an earlier state. Use query, keys, status, plan."))
    }

    // MARK: Bad input

    @Test(arguments: [
        (["--every", "0"], "--every must be greater than 0."),
        (["--with", "x"], "--with requires --check."),
        (
            ["--check", "--step"],
            "--check reads the whole log; it cannot be combined with --from, --to, --step and --batches."
        ),
        (["--step", "--json"], "--step is interactive; it cannot be combined with --json."),
        (
            ["--against", "http://x/", "--check"],
            "--against repeats the whole session; it cannot be combined with other options."
        ),
    ])
    func `options that exclude each other are refused`(_ arguments: [String], _ message: String) throws {
        let workspace = try Workspace()
        let run = try workspace.run(["replay"] + arguments)
        #expect(run.status == 64)
        #expect(run.error.contains(message))
    }

    @Test func `replay without a store is an error`() throws {
        let run = try Workspace().tidelog("replay")
        #expect(run.status == 1)
        #expect(run.error.hasPrefix("tidelog: There is no log in .tidelog/log"))
    }
}
