import Foundation
import TestSupport
import Testing

/// AX-17: queued actions on the command line.
@Suite(.timeLimit(.minutes(20))) struct ActionCommandTests {
    @Test func `an action is queued with its declared effect, and sent by the next push`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"])
        #expect(
            try workspace.output(
                "action", "Shop.Annotate", #"{"note":"called"}"#, "--on", "Orders(1)", "--update", #"{"Note":"called"}"#
            )
                == "9 Orders(1)\n")
        #expect(try workspace.output("query", "Orders(1)/Note") == "\"called\"\n")
        #expect(try workspace.output("status").contains("Annotate"))
        _ = try workspace.output("push")
        #expect(try workspace.output("query", "Orders(1)/Note") == "\"called\"\n")
        #expect(try workspace.output("status") == "No pending operations.\n")
    }

    @Test(arguments: [
        ["action", "Shop.Nothing", "--on", "Orders(1)"],
        ["action", "Shop.Annotate", "{\"text\":1}", "--on", "Orders(1)"],
        ["action", "Shop.Annotate", "{\"note\":\"x\"}", "--on", "Orders", "--delete"],
        ["action", "Shop.Annotate", "{\"note\":\"x\"}", "--delete"],
        ["action", "Shop.Annotate", "{\"note\":\"x\"}", "--on", "Orders(1)", "--update", "{\"Nothing\":1}"],
    ])
    func `a call that the metadata forbid is refused, and nothing is logged`(_ arguments: [String]) throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers", "O=Orders"])
        let run = try workspace.run(arguments)
        #expect(run.status != 0)
        #expect(!run.error.isEmpty)
        #expect(try workspace.output("status") == "No pending operations.\n")
    }
}
