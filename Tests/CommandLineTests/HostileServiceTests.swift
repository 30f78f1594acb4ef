import Foundation
import TestSupport
import Testing

/// Services whose responses are too large, too slow, or endless.
@Suite(.timeLimit(.minutes(30))) struct HostileServiceTests {
    /// Pulls from a service that responds with `answer`.
    private func pull(
        _ arguments: String..., answer: @escaping LoopbackServer.Answer
    ) throws -> (run: Run, workspace: Workspace, service: HostileService) {
        let service = try HostileService(answer)
        let workspace = try Workspace.made(service, "Things=Things")
        return (try workspace.run(["pull"] + arguments), workspace, service)
    }

    @Test(arguments: [#"{"value":[{"ID":1,"Name":""#, #"{"value":[],"x":""#])
    func `a gzip bomb is an error and needs little memory`(_ beginning: String) throws {
        let plain = try HostileService { $1.respond("200 OK", HostileService.json, HostileService.page(#"{"ID":1}"#)) }
        let ordinary = try Workspace.made(plain, "Things=Things").measured("pull")
        #expect(ordinary.run.status == 0)
        let bomb = HostileService.bomb(beginning, mebibytes: 3_000)
        let service = try HostileService {
            $1.respond("200 OK", HostileService.json + "Content-Encoding: gzip\r\n", bomb)
        }
        let (run, peak) = try Workspace.made(service, "Things=Things").measured("pull")
        #expect(run.status == 1)
        #expect(run.error.contains("decompresses to more than 200 times as many bytes as were received"))
        guard let peak, let least = ordinary.peak else { return print("the system does not report the peak memory") }
        #expect(peak < least + 64, "an ordinary pull has \(least) MiB")
    }

    @Test func `an entity with a string of hundreds of megabytes is set aside and needs little memory`() throws {
        let service = try HostileService { request, connection in
            connection.write(
                "HTTP/1.1 200 OK\r\n\(HostileService.json)\r\n{\"value\":[{\"ID\":1},{\"ID\":2,\"Name\":\"")
            let chunk = Array(repeating: UInt8(ascii: "x"), count: 1 << 20)
            for _ in 0..<200 { guard connection.write(chunk) else { return false } }
            connection.write("\"},{\"ID\":3}]}")
            return false
        }
        let workspace = try Workspace.made(service, "Things=Things")
        let (run, peak) = try workspace.measured("pull")
        #expect(run.status == 1)
        #expect(run.output.contains("Things(2)"))
        #expect(try workspace.output("query", "Things/$count") == "2\n")
        #expect(try workspace.output("quarantine", "--json").contains(#""reason":"tooLarge""#))
        guard let peak else { return print("the system does not report the peak memory") }
        #expect(peak < 160)
    }

    @Test(arguments: [true, false])
    func `an endless chain of next links without new entities is an error`(_ isEmpty: Bool) throws {
        let (run, workspace, service) = try pull("--limit", "fruitlessPages=5") {
            let number = Int($0.target.split(separator: "=").last ?? "") ?? 0
            let next = "Things?$skiptoken=\(number + 1)"
            return $1.respond(
                "200 OK", HostileService.json, HostileService.page(isEmpty ? "" : #"{"ID":\#(number % 2)}"#, next: next)
            )
        }
        #expect(run.status == 1)
        #expect(
            run.error.contains(
                "next links of the service do not end: 5 consecutive pages were empty or began with an entity"))
        #expect(service.server.requests.count < 12)
        #expect(try workspace.output("query", "Things/$count") == (isEmpty ? "0\n" : "2\n"))
    }

    @Test func `the timeout in the options ends a response that arrives one byte at a time`() throws {
        let (run, _, _) = try pull("--limit", "idleTimeout=1", "--wait", "0") {
            $1.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            for _ in 0..<1_000 {
                guard $1.write([0x20]) else { break }
                usleep(100_000)
            }
            return $0.method.isEmpty
        }
        #expect(run.status == 1)
        #expect(run.error.contains("it timed out"))
    }

    @Test func `a response that exceeds the limit is an error that names the remedy`() throws {
        let (run, workspace, service) = try pull("--limit", "streamedBytes=1000") {
            let items = (1...200).map { #"{"ID":\#($0)}"# }.joined(separator: ",")
            return $1.respond("200 OK", HostileService.json, HostileService.page(items)) && !$0.method.isEmpty
        }
        #expect(run.status == 1)
        #expect(run.error.contains("the response has more than 1000 bytes"))
        #expect(run.error.contains("raise the limits"))
        #expect(try workspace.tidelog("pull").status == 0)
        #expect(service.server.requests.count > 1)
    }

    @Test(arguments: ["x", "x=1", "totalTimeout=", "totalTimeout=-1", "entityBytes=none", "entityBytes=0"])
    func `an invalid limit is a usage error`(_ argument: String) throws {
        let workspace = try Workspace()
        #expect(try workspace.tidelog("pull", "--limit", argument).status == 64)
    }
}

/// Text from the service, printed to a terminal.
@Suite(.timeLimit(.minutes(20))) struct HostileTextTests {
    /// A value with control sequences that clear the screen, set the title and change the writing direction.
    private static let value = #"a\u001b[2Jb\u001b]0;title\u0007c\u009b2Jd\u202Ee\u200Ff\u007f\tg"#

    @Test(arguments: [
        ["query", "Things(1)/Name/$value"], ["query", "Things", "--json"], ["query", "Things"], ["show", "5"],
    ])
    func `control characters in a value are escaped on the terminal`(_ arguments: [String]) throws {
        let service = try HostileService {
            $1.respond("200 OK", HostileService.json, HostileService.page(#"{"ID":1,"Name":"\#(Self.value)"}"#))
        }
        let workspace = try Workspace.made(service, "Things=Things")
        _ = try workspace.output("pull")
        let process = Executable.process(arguments + ["--store", workspace.path(".tidelog")])
        process.environment = ProcessInfo.processInfo.environment.merging(["TERM": "xterm", "NO_COLOR": "1"]) { $1 }
        let text = try Terminal(columns: 200).text(of: process)
        #expect(!text.isEmpty)
        let dangerous = text.unicodeScalars.filter {
            ($0.value < 0x20 && $0 != "\n" && $0 != "\t") || (0x7F...0x9F).contains($0.value) || $0.value == 0x202E
                || $0.value == 0x200F
        }
        #expect(dangerous.isEmpty)
    }

    @Test func `output to a program contains the unchanged value`() throws {
        let service = try HostileService {
            $1.respond("200 OK", HostileService.json, HostileService.page(#"{"ID":1,"Name":"\#(Self.value)"}"#))
        }
        let workspace = try Workspace.made(service, "Things=Things")
        _ = try workspace.output("pull")
        #expect(
            try workspace.output("query", "Things(1)/Name/$value")
                == "a\u{1B}[2Jb\u{1B}]0;title\u{7}c\u{9B}2Jd\u{202E}e\u{200F}f\u{7F}\tg\n")
    }
}
