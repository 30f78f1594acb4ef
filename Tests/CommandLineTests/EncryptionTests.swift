import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct EncryptionTests {
    private static let hexadecimal = String(repeating: "0123456789abcdef", count: 4)
    /// A different key.
    private static let base64 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

    private func encrypted(_ server: SandboxServer) throws -> Workspace {
        let workspace = try Workspace()
        workspace.environment["TIDELOG_KEY"] = Self.hexadecimal
        _ = try workspace.output("init", server.root(.v4), "--query", "C=Customers")
        _ = try workspace.output("pull")
        return workspace
    }

    @Test func `with a key in the environment every command works, and no file contains plain text`() throws {
        let server = try SandboxServer()
        let workspace = try encrypted(server)
        #expect(try workspace.output("create", "Customers", #"{"Name":"Zebedee"}"#).hasSuffix(" Customers(~4)\n"))
        #expect(try workspace.output("query", "Customers?$filter=Name eq 'Zebedee'").contains("Zebedee"))
        #expect(try workspace.output("log").contains("create Customers(~4) Name='Zebedee'"))
        #expect(try workspace.output("verify").hasSuffix("The log has no damage.\n"))
        #expect(try workspace.output("push").contains("1 confirmed"))
        let store = workspace.folder.appendingPathComponent(".tidelog")
        let names = try FileManager.default.subpathsOfDirectory(atPath: store.path)
        #expect(names.contains { $0.hasSuffix(".segment") } && names.contains("views.sqlite"))
        for name in names {
            let bytes = (try? Data(contentsOf: store.appendingPathComponent(name))) ?? Data()
            #expect(bytes.range(of: Data("Zebedee".utf8)) == nil, "\(name)")
        }
    }

    @Test func `verify compares the encrypted views with the log, and an encrypted stream can be read`() throws {
        let server = try SandboxServer()
        let workspace = try encrypted(server)
        #expect(try workspace.output("verify").contains("The views match the log"))
        try workspace.write("a picture of some length", to: "picture")
        let link = try workspace.output("media", "create", "Photos", "picture", "--type", "image/png")
            .trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try workspace.output("media", "get", link) == "a picture of some length")
        #expect(try workspace.output("media", "verify") == "No stream is missing or damaged.\n")
        // Views that are encrypted with a former key are not damage.
        workspace.environment["TIDELOG_KEY"] = Self.base64 + "," + Self.hexadecimal
        let run = try workspace.tidelog("verify")
        #expect(run.status == 0 && run.output.contains("not encrypted with the newest key of the store"))
        _ = try workspace.output("query", "Customers")
        #expect(try workspace.output("verify").contains("The views match the log"))
    }

    @Test(arguments: ["status", "log", "verify"])
    func `a command without the key or with a wrong key exits with 1 and a message`(command: String) throws {
        let server = try SandboxServer()
        let workspace = try encrypted(server)
        workspace.environment["TIDELOG_KEY"] = ""
        let without = try workspace.tidelog(command)
        #expect(without.status == 1)
        #expect(
            without.error.contains("00000000000000000001.segment is encrypted, and no key was given. ")
                && without.error.contains("TIDELOG_KEY"))
        workspace.environment["TIDELOG_KEY"] = Self.base64
        let other = try workspace.tidelog(command)
        #expect(other.status == 1)
        #expect(other.error.contains("is encrypted with a key that was not given. "))
        // The key is accepted as a former key.
        workspace.environment["TIDELOG_KEY"] = Self.base64 + "," + Self.hexadecimal
        #expect(try workspace.tidelog(command).status == 0)
    }

    @Test func `an invalid key is refused with a message that does not contain it`() throws {
        let workspace = try Workspace()
        workspace.environment["TIDELOG_KEY"] = Self.base64 + ",secret"
        let run = try workspace.tidelog("status")
        #expect(run.status == 1)
        #expect(
            run.error == "tidelog: Key 2 in TIDELOG_KEY is not a valid key. "
                + "Use 32 bytes in Base64, or 64 hexadecimal digits.\n")
    }
}
