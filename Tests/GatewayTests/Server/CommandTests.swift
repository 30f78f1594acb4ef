import Foundation
import TestSupport
import Testing

/// The program with files and addresses that it cannot use.
@Suite(.timeLimit(.minutes(20))) struct CommandTests {
    private let directory = TemporaryDirectory()

    private var path: String { directory.path + "/gateway.ini" }

    /// Writes a configuration with lines at the end of the sections `[gateway]` and `[endpoint]`.
    private func write(port: Int = 0, storage: String? = nil, gateway: String = "", endpoint: String = "") {
        let text = """
            [gateway]
            listen = 127.0.0.1:\(port)
            public_root = http://127.0.0.1/odata/
            storage = sqlite:\(storage ?? directory.path + "/gateway.db")
            \(gateway)
            [endpoint]
            name = shop
            root = http://127.0.0.1:1/shop/
            \(endpoint)
            """
        TemporaryDirectory.write(Array(text.utf8), to: path)
    }

    private func run(_ command: String) throws -> (status: Int32, text: String) {
        try ChildProcess.run("tidelog-gateway", [command, "--config", path])
    }

    @Test(arguments: ["check", "serve"])
    func `a file that cannot be used is reported with the line that names it`(_ command: String) throws {
        let file = directory.path + "/file"
        write(gateway: "key_file = \(file)")
        let missing = try run(command)
        #expect(missing.status != 0 && missing.text.contains("\(path):5: The key_file \(file) cannot be read."))
        TemporaryDirectory.write(Array("short".utf8), to: file)
        #expect(try run(command).text.contains("\(path):5: The key_file \(file) has fewer than 16 bytes."))
        write(endpoint: "credentials_file = \(file)")
        #expect(try run(command).text.contains("\(path):9: The first line of \(file) is no value of Authorization."))
        write(endpoint: "certificate_authorities = \(file)")
        #expect(try run(command).text.contains("\(path):9: \(file) contains no certificate in the PEM format."))
        // A folder is no file.
        write(endpoint: "certificate_authorities = \(directory.path)")
        #expect(try run(command).text.contains("\(path):9: The certificate_authorities \(directory.path) cannot"))
    }

    @Test func `a storage and an address that cannot be used are reported with their lines`() throws {
        write(storage: "/nowhere/gateway.db")
        let notice = try run("check")
        #expect(notice.status == 0 && notice.text.contains("\(path):4: The folder of /nowhere/gateway.db does not"))
        let failure = try run("serve")
        #expect(failure.status != 0 && failure.text.contains("\(path):4: The ledger /nowhere/gateway.db cannot"))
        let (descriptor, port) = try Sockets.listen()
        defer { close(descriptor) }
        write(port: port)
        let busy = try run("serve")
        #expect(
            busy.status != 0 && busy.text.contains("\(path):2: The listen address cannot be opened"), "\(busy.text)")
    }

    @Test func `check opens no port and no database`() throws {
        let (descriptor, port) = try Sockets.listen()
        defer { close(descriptor) }
        write(port: port)
        let (status, text) = try run("check")
        #expect(status == 0 && text == "http://127.0.0.1/odata/shop/ -> http://127.0.0.1:1/shop/\n", "\(text)")
        #expect(TemporaryDirectory.files(directory.path) == [path])
    }
}
