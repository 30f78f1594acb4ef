import Foundation
import Synchronization
import TestSupport

/// A server with TLS on 127.0.0.1, and certificates of an authority of its own. It ends with the test.
///
/// The certificates are made by the program `openssl`; the server is a script for `python3`.
final class TLSServer {
    /// The folder of the certificates, made once.
    private static let made = Mutex<Result<TemporaryDirectory, Failure>?>(nil)

    struct Failure: Error, CustomStringConvertible { let description: String }

    /// Whether the programs exist. A missing one is printed.
    static let isAvailable: Bool = {
        let missing = ["openssl", "python3"].filter { run(["which", $0]) != 0 }
        if !missing.isEmpty { print("skipped: tests of TLS need \(missing.joined(separator: " and "))") }
        return missing.isEmpty
    }()

    private let process: ChildProcess
    private let folder: String
    /// The file with the received requests. Not a pipe: a process of another test may have inherited its end.
    private let log: String

    /// - Parameter requiresClient: whether the server accepts only clients with a certificate of the authority.
    init(requiresClient: Bool = false) throws {
        folder = try Self.certificates()
        let script = "\(folder)/server-\(UUID().uuidString).py"
        log = script + ".log"
        try Data(Self.script.utf8).write(to: URL(filePath: script))
        process = try ChildProcess(
            URL(filePath: "/usr/bin/env"), ["python3", "-u", script, folder, requiresClient ? "1" : "0", log], lines: 1)
    }

    var port: Int { process.port }
    var base: String { "https://127.0.0.1:\(port)" }

    /// The path of a file: `authority.pem`, `server.pem`, `client.pem`, `client.key`, `client.p12` (password *secret*).
    func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Returns a line for each connection and each request that it has received.
    func received() -> [String] {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map(String.init)
    }

    // MARK: Certificates

    private static func certificates() throws -> String {
        try made.withLock { made in
            if made == nil { made = makeCertificates() }
            guard let made else { throw Failure(description: "unreachable") }
            return try made.get().path
        }
    }

    private static func makeCertificates() -> Result<TemporaryDirectory, Failure> {
        let folder = TemporaryDirectory()
        let path = folder.path
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        var commands = [
            ["req", "-x509", "-days", "2", "-subj", "/CN=Authority"] + key
                + ["-keyout", "\(path)/authority.key", "-out", "\(path)/authority.pem"]
        ]
        for (name, usage) in [("server", "subjectAltName=IP:127.0.0.1"), ("client", "extendedKeyUsage=clientAuth")] {
            guard (try? Data("\(usage)\n".utf8).write(to: URL(filePath: "\(path)/\(name).ext"))) != nil else {
                return .failure(Failure(description: "\(path) cannot be written"))
            }
            commands.append(
                ["req", "-subj", "/CN=\(name)"] + key
                    + ["-keyout", "\(path)/\(name).key", "-out", "\(path)/\(name).csr"])
            commands.append(
                ["x509", "-req", "-days", "2", "-in", "\(path)/\(name).csr", "-extfile", "\(path)/\(name).ext"]
                    + ["-CA", "\(path)/authority.pem", "-CAkey", "\(path)/authority.key", "-CAcreateserial"]
                    + ["-out", "\(path)/\(name).pem"])
        }
        commands.append([
            "pkcs12", "-export", "-in", "\(path)/client.pem", "-inkey", "\(path)/client.key", "-passout",
            "pass:secret", "-out", "\(path)/client.p12",
        ])
        for command in commands {
            guard run(["openssl"] + command) == 0 else {
                return .failure(Failure(description: "openssl \(command.joined(separator: " ")) failed"))
            }
        }
        return .success(folder)
    }

    /// Returns the status of a program, or nil if it cannot be started.
    private static func run(_ arguments: [String]) -> Int32? {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        process.waitUntilExit()
        return process.terminationStatus
    }

    private static let script = """
        import http.server, ssl, sys
        folder, requires_client = sys.argv[1], sys.argv[2] == "1"
        log = open(sys.argv[3], "w", buffering=1)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def setup(self):
                print("connection", file=log)
                super().setup()
            def do_GET(self):
                print("GET", self.path, self.headers.get("Authorization", "-"), file=log)
                certificate = self.connection.getpeercert() or {}
                names = [value for part in certificate.get("subject", ()) for key, value in part]
                body = ",".join(names).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def log_message(self, *arguments): pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder + "/server.pem", folder + "/server.key")
        if requires_client:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(folder + "/authority.pem")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        print(server.server_address[1])
        server.serve_forever()

        """
}
