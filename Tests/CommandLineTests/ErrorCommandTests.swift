import TestSupport
import Testing

/// Tests of `errors`, `retry`, `discard`, `release`, `settle` and the options that determine whether and how an
/// operation is sent, with a service that injects faults.
@Suite(.timeLimit(.minutes(20))) struct ErrorCommandTests {
    private func workspace(_ faults: String = "") throws -> (SandboxServer, Workspace) {
        let server = try SandboxServer(faults: faults)
        return (server, try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"]))
    }

    private func refusals(_ times: Int) -> String {
        #"[{"effect":"refuse","status":409,"method":"POST","url":"Customers","part":"any","times":\#(times)}]"#
    }

    private let refused = """
        9  create Customers(~8) · rejected · tag 'mine'
            409 A fault of the sandbox rejected this request. (InjectedFault)
            POST Customers

        """

    @Test func `a rejected operation is listed, retried, corrected and sent`() throws {
        let (server, workspace) = try workspace(refusals(2))
        #expect(try workspace.output("errors") == "No errors.\n")
        #expect(try workspace.output("errors", "--json").isEmpty)
        _ = try workspace.output("create", "Customers", #"{"Name":"Neu"}"#, "--tag", "mine")
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"Ada"}"#)
        let push = try workspace.tidelog("push")
        #expect(push.status == 1)
        #expect(push.lines[0].hasPrefix("1 confirmed, 1 rejected, 0 in doubt (2 batches, "))
        #expect(
            push.lines.dropFirst() == [
                "Operation 9 was rejected: 409 A fault of the sandbox rejected this request.",
                "Rejected operations stay in the store; see 'tidelog errors'. The next push tries them again.",
            ])
        #expect(try workspace.output("errors") == refused)
        let json = try workspace.output("errors", "--json")
        #expect(json.hasPrefix(#"{"sequence":9,"state":"rejected","time":"#))
        #expect(
            json.hasSuffix(
                #""action":"create","readLink":"Customers(~8)","status":409,"code":"InjectedFault","message":"A fault of the sandbox rejected this request.","class":"conflict","customTag":"mine","request":{"method":"POST","url":"Customers","body":"{\"Name\":\"Neu\"}"}}"#
                    + "\n"))
        #expect(try workspace.output("query", "ErrorArchive/$count") == "1\n")

        #expect(
            try workspace.tidelog("retry", "10").error
                == "tidelog: Operation 10 is not a rejected operation. Read the error archive again.\n")
        let retry = try workspace.tidelog("retry", "9")
        #expect(retry.status == 1)
        #expect(retry.lines[0].hasPrefix("0 confirmed, 1 rejected, 0 in doubt (1 batch, "))
        #expect(try workspace.output("errors") == refused)

        let mend = try workspace.output("update", "Customers(~8)", #"{"Name":"Besser"}"#).prefix { $0 != " " }
        let status = try workspace.output("status")
        #expect(status.contains("; the next upload sends it again, in one request with operation \(mend)\n"))
        let plan = try workspace.tidelog("plan")
        #expect(plan.output.contains(#"{"Name":"Besser"}"#))
        #expect(plan.error.isEmpty)
        #expect(try workspace.output("push").hasPrefix("2 confirmed, 0 rejected"))
        #expect(try workspace.output("errors") == "No errors.\n")
        _ = server
    }

    @Test func `discard undoes a rejected operation with its dependents, and redo restores them`() throws {
        let (server, workspace) = try workspace(refusals(1))
        _ = try workspace.output("create", "Customers", #"{"Name":"Neu"}"#, "--tag", "mine")
        _ = try workspace.output("create", "Orders", #"{"Note":"n"}"#, "--bind", "Customer=Customers(~8)")
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"Ada"}"#)
        #expect(try workspace.tidelog("push").status == 1)
        #expect(try workspace.tidelog("discard").status == 64)
        #expect(
            try workspace.output("discard", "9") == """
                9 create Customers(~8)
                10 create Orders(~9) (needs Customers(~8), which operation 9 creates)
                2 operations undone, 1 of them because of dependencies.

                """)
        #expect(try workspace.output("errors") == "No errors.\n")
        #expect(try workspace.output("discard", "--all") == "0 operations undone.\n")
        #expect(try workspace.output("redo", "--last").hasSuffix("2 operations redone.\n"))
        #expect(try workspace.output("errors") == refused)
        #expect(try workspace.output("push").hasPrefix("2 confirmed"))
        _ = server
    }

    @Test func `drafts, local changes and other categories are not sent, and status prints the reason`() throws {
        let (server, workspace) = try workspace()
        _ = try workspace.output("create", "Customers", #"{"Name":"Neu"}"#, "--draft")
        _ = try workspace.output("create", "Orders", #"{"Note":"n"}"#, "--bind", "Customer=Customers(~8)")
        _ = try workspace.output("update", "Customers(2)", #"{"Name":"nur hier"}"#, "--local-only")
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"Ada"}"#, "--category", "a")
        _ = try workspace.output("update", "Customers(3)", #"{"Name":"Bea"}"#, "--category", "b")
        #expect(
            try workspace.output("status").split(separator: "\n").dropFirst(2).map { $0.drop { $0 == " " } } == [
                "9  create Customers(~8)  pending  a draft that has not been released; the next upload after its release sends it",
                "10  create Orders(~9)     pending  waits for operation 9, which is a draft; an upload sends it after operation 9 is released or undone",
                "11  update Customers(~2)  pending  for this store only; it is never sent",
                "12  update Customers(~1)  pending",
                "13  update Customers(~3)  pending",
                "5 pending.",
            ])
        #expect(try workspace.output("push", "--category", "a").hasPrefix("1 confirmed, 0 rejected"))
        #expect(
            try workspace.output("push", "--category", "a", "--category", "c")
                == "No operations to send.\n2 operations not sent; see 'tidelog status'.\n2 operations not to be sent: drafts or local-only.\n"
        )
        #expect(try workspace.output("push", "--category", "b", "--category", "c").hasPrefix("1 confirmed, 0 rejected"))
        #expect(try workspace.tidelog("release", "11").error.contains("local-only"))
        #expect(try workspace.tidelog("release", "99").error == "tidelog: Operation 99 is not pending.\n")
        #expect(try workspace.output("release", "9") == "1 operation released: 9.\n")
        #expect(try workspace.output("release", "9") == "0 operations released.\n")
        #expect(try workspace.output("release", "10", "--hold-back") == "1 operation held back: 10.\n")
        #expect(try workspace.output("push").hasPrefix("1 confirmed, 0 rejected"))
        #expect(try workspace.output("release", "10") == "1 operation released: 10.\n")
        #expect(try workspace.output("push").hasPrefix("1 confirmed, 0 rejected"))
        #expect(try workspace.output("status").hasSuffix("1 pending.\n"))
        #expect(try workspace.output("query", "Customers(2)").contains("nur hier"))
        #expect(try workspace.tidelog("update", "Customers(1)", "{}", "--draft", "--local-only").status == 64)
        _ = server
    }

    @Test func `an operation in doubt is listed, cannot be discarded and is resolved with settle`() throws {
        let (server, workspace) = try workspace(#"[{"effect":"dropAnswer","url":"$batch"}]"#)
        _ = try workspace.output("create", "Orders", #"{"Note":"a"}"#)
        _ = try workspace.output("create", "Orders", #"{"Note":"b"}"#)
        let broken = try workspace.tidelog("push")
        #expect(broken.status == 1)
        #expect(broken.error.contains("the connection was lost"))
        #expect(broken.lines.first?.hasPrefix("0 confirmed, 0 rejected, 2 in doubt (1 batch, ") == true)
        #expect(broken.lines.last == "The next push determines the outcome if possible.")
        let push = try workspace.tidelog("push")
        #expect(push.status == 1)
        #expect(
            push.lines == [
                "0 confirmed, 0 rejected, 2 in doubt (0 batches, 0 bytes sent).",
                "Operation 9 is in doubt: it is not known whether it took effect.",
                "Operation 10 is in doubt: it is not known whether it took effect.",
                "Check the service, and set the outcome with 'tidelog settle', for a new entity with its address; 'tidelog push --resend-in-doubt' sends operations in doubt again.",
            ])
        let errors = try workspace.output("errors").split(separator: "\n")
        #expect(errors.count == 6)
        #expect(errors[0] == "9  create Orders(~8) · in doubt")
        #expect(errors[2] == "    POST Orders")
        #expect(try workspace.tidelog("discard", "9").error.contains("Operation 9 was sent"))
        #expect(try workspace.output("discard", "--all") == "0 operations undone.\n")
        #expect(try workspace.tidelog("settle", "9").status == 64)
        #expect(try workspace.tidelog("settle", "8", "--resend").error.contains("Operation 8 is not in doubt"))
        #expect(try workspace.output("settle", "9", "--took-effect") == "done: 9\n")
        #expect(try workspace.output("settle", "10", "--resend") == "to be sent again: 10\n")
        #expect(try workspace.output("errors") == "No errors.\n")
        #expect(try workspace.output("push").hasPrefix("1 confirmed, 0 rejected"))
        _ = server
    }

    @Test func `later changes of a new entity in doubt are sent once settle names its address`() throws {
        for later in [false, true] {
            let (server, workspace) = try workspace(#"[{"effect":"dropAnswer","url":"$batch"}]"#)
            _ = try workspace.output("create", "Orders", #"{"Note":"a"}"#)
            #expect(try workspace.tidelog("push").status == 1)
            _ = try workspace.output("update", "Orders(~8)", #"{"Note":"b"}"#)
            #expect(try workspace.output("status").contains("otherwise an upload sends it again when the lost request"))
            #expect(try workspace.tidelog("settle", "9", "--resend", "--address", "5").status == 64)
            let wrong = try workspace.tidelog("settle", "9", "--took-effect", "--address", "Orders(1)")
            #expect(wrong.status == 1)
            #expect(
                wrong.error.hasPrefix("tidelog: Orders(1) is already in the store as another entity, Orders(~4). Look ")
            )
            #expect(
                try workspace.tidelog("settle", "9", "--took-effect", "--address", "Customers(1)").error
                    == "tidelog: Customers(1) is in Customers, but the entity is in Orders. Look up the entity that was created.\n"
            )
            #expect(
                try workspace.tidelog("identify", "Orders(~8)", "5").error.hasPrefix(
                    "tidelog: Orders(~8) is not known to exist at the service."))
            if later {
                #expect(try workspace.output("settle", "9", "--took-effect") == "done: 9\n")
                let push = try workspace.output("push")
                #expect(push.hasSuffix("1 operation not sent; see 'tidelog status'.\n"))
                #expect(
                    try workspace.output("status").contains(
                        "held back: the key that the service assigned to entity ~8 is not known; a download may deliver the key, or 'tidelog identify' sets it"
                    ))
                #expect(try workspace.output("identify", "Orders(~8)", "5") == "Orders(~8) is Orders(5).\n")
                #expect(
                    try workspace.tidelog("identify", "Orders(~8)", "5").error
                        == "tidelog: The key of Orders(~8) is known: 5. If the service changed the key, download the entity.\n"
                )
            } else {
                #expect(
                    try workspace.output("settle", "9", "--took-effect", "--address", "Orders(5)") == "done: 9\n")
            }
            #expect(try workspace.output("push").hasPrefix("1 confirmed, 0 rejected, 0 in doubt"))
            #expect(try workspace.output("status") == "No pending operations.\n")
            #expect(try workspace.output("query", "Orders(5)").contains("b"))
            _ = server
        }
    }

    @Test func `plan prints the requests of a push with the same options`() throws {
        let (server, workspace) = try workspace()
        _ = try workspace.output("update", "Orders(1)", #"{"Note":"a"}"#)
        _ = try workspace.output("update", "Orders(1)", #"{"Note":"b"}"#)
        let made = try workspace.output("create", "Customers", #"{"Name":"kurz"}"#).prefix { $0 != " " }
        let gone = try workspace.output("delete", "Customers(~8)").prefix { $0 != " " }
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"Ada"}"#, "--category", "x")
        let everything = try workspace.tidelog("plan")
        #expect(everything.output.contains("kurz") && everything.output.contains("Ada"))
        let coalesced = try workspace.tidelog("plan", "--coalesce")
        #expect(!coalesced.output.contains("kurz") && coalesced.output.contains("Ada"))
        #expect(coalesced.output.ranges(of: "PATCH ").count == 2)
        let cancelled = "is not sent: it and other operations cancel each other out, so it is not sent."
        #expect(coalesced.error == [made, gone].map { "tidelog: Operation \($0) \(cancelled)\n" }.joined())
        let category = try workspace.tidelog("plan", "--category", "x")
        #expect(category.output.contains("Ada") && category.output.ranges(of: "PATCH ").count == 1)
        #expect(category.error.ranges(of: "not in a category of the upload").count >= 3)
        _ = server
    }

    @Test func `push prints the operations that were confirmed before a failure`() throws {
        let (server, workspace) = try workspace(#"[{"effect":"dropRequest","url":"$batch","skip":1}]"#)
        // The second change of an order needs the ETag that results from the first one, so there are two batches.
        _ = try workspace.output("update", "Orders(1)", #"{"Note":"a"}"#)
        _ = try workspace.output("update", "Orders(1)", #"{"Note":"b"}"#)
        let push = try workspace.tidelog("push", "--json")
        #expect(push.status == 1)
        #expect(push.output.contains(#""confirmed":[9],"rejected":[]"#))
        #expect(push.error.contains("the connection was lost"))
        #expect(try workspace.output("push").hasPrefix("1 confirmed, 0 rejected"))
        _ = server
    }

    @Test func `push --coalesce merges the changes of one entity, except unmodifiable ones`() throws {
        let (server, workspace) = try workspace()
        _ = try workspace.output("update", "Orders(1)", #"{"Note":"a"}"#)
        _ = try workspace.output("update", "Orders(1)", #"{"Note":"b"}"#)
        _ = try workspace.output("create", "Customers", #"{"Name":"kurz"}"#)
        _ = try workspace.output("delete", "Customers(~8)")
        let push = try workspace.output("push", "--coalesce").split(separator: "\n")
        #expect(push[0].hasPrefix("2 confirmed, 0 rejected, 0 in doubt (1 batch, "))
        #expect(push[1] == "2 operations cancelled each other out and were not sent.")
        #expect(push.count == 2)
        _ = try workspace.output("update", "Orders(1)", #"{"Note":"c"}"#, "--unmodifiable")
        _ = try workspace.output("update", "Orders(1)", #"{"Note":"d"}"#, "--unmodifiable")
        #expect(
            try workspace.output("push", "--coalesce").hasPrefix("2 confirmed, 0 rejected, 0 in doubt (2 batches, "))
        let made = try workspace.output("create", "Customers", #"{"Name":"kurz"}"#).prefix { $0 != " " }
        let gone = try workspace.output("delete", "Customers(~9)").prefix { $0 != " " }
        #expect(
            try workspace.output("push", "--coalesce", "--json")
                == #"{"batches":0,"bytesSent":0,"confirmed":[],"rejected":[],"elided":[\#(made),\#(gone)],"inDoubt":[],"remaining":0}"#
                + "\n")
        #expect(try workspace.output("status") == "No pending operations.\n")
        _ = server
    }

    @Test func `a concurrent change of an entity is a conflict, and the operations wait for a resolution`() throws {
        let (server, workspace) = try workspace(
            #"[{"effect":"precede","url":"$batch","request":{"method":"PATCH","url":"/v4/Orders(1)","headers":{"If-Match":"*","Content-Type":"application/json"},"body":"{\"Note\":\"theirs\"}"}}]"#
        )
        _ = try workspace.output("update", "Orders(1)", #"{"Note":"mine"}"#)
        _ = try workspace.output("update", "Orders(1)", #"{"Amount":1}"#)
        let push = try workspace.tidelog("push")
        #expect(push.status == 1)
        #expect(
            push.lines.dropFirst() == [
                "Orders(1) waits: another client changed it too; see 'tidelog conflicts'."
            ])
        #expect(
            try workspace.output("errors") == """
                9  update Orders(~4) · in conflict
                    412 Orders(1) was changed: its ETag is W/"2", but If-Match is W/"1". (PreconditionFailed)
                    PATCH Orders(1)
                10  update Orders(~4) · in conflict
                    Another client changed Orders(1) too.
                    PATCH Orders(~4)

                """)
        #expect(try workspace.output("query", "ErrorArchive/$count?$filter=State eq 'conflict'") == "2\n")
        let status = try workspace.output("status")
        #expect(!status.contains("the next upload sends it again"))
        #expect(status.ranges(of: "an upload sends it after the conflict is resolved").count == 2)
        #expect(try workspace.tidelog("retry", "9").error.contains("Operation 9 is in conflict"))
        #expect(try workspace.output("discard", "10").hasSuffix("1 operation undone.\n"))
        _ = try workspace.output("resolve", "Orders(1)", "--mine")
        #expect(try workspace.output("errors") == "No errors.\n")
        #expect(try workspace.output("push").hasPrefix("1 confirmed, 0 rejected"))
        _ = server
    }
}
