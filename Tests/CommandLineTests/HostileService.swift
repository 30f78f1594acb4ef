import Foundation
import TestSupport

/// A service with the entity set `Things` and the singleton `Me`, whose responses the test determines.
final class HostileService {
    let server: LoopbackServer
    var root: String { server.base + "/" }
    var origin: String { server.base }

    /// Starts the service.
    ///
    /// - Parameter answer: Responds to each request except the one for `$metadata`. If it returns false, the connection
    ///   is closed.
    init(_ answer: @escaping LoopbackServer.Answer) throws {
        server = try LoopbackServer { request, connection in
            guard request.target.hasSuffix("$metadata") else { return answer(request, connection) }
            return connection.respond("200 OK", "Content-Type: application/xml\r\n", Array(Self.metadata.utf8))
        }
    }

    deinit { server.stop() }

    /// Returns one page of `Things`.
    static func page(_ items: String, next: String? = nil) -> [UInt8] {
        Array(#"{"value":[\#(items)]\#(next.map { #","@odata.nextLink":"\#($0)""# } ?? "")}"#.utf8)
    }

    static let json = "Content-Type: application/json\r\n"

    static let metadata = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="N">
        <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
        <NavigationProperty Name="Other" Type="N.Thing"/><NavigationProperty Name="Far" Type="N.Loose"/></EntityType>
        <EntityType Name="Loose"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Things" EntityType="N.Thing"/><Singleton Name="Me" Type="N.Thing"/>
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    /// Returns a gzip stream that contains the text and then this number of MiB of the letter `a`. Each KiB of the
    /// stream decompresses to about one MiB.
    static func bomb(_ text: String, mebibytes: Int) -> [UInt8] {
        let letters: [UInt8] =
            [0xEC, 0xC1, 0x31, 0x01, 0, 0, 0, 0xC2, 0xA0, 0xAC, 0xEB, 0x5F, 0xC2, 0x10, 0xBE, 0x40, 0x01]
            + Array(repeating: 0, count: 1_015) + [0x7C, 0x06, 0, 0, 0xFF, 0xFF]
        let count = UInt16(text.utf8.count)
        var bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        bytes += [0, UInt8(count & 255), UInt8(count >> 8), UInt8(~count & 255), UInt8(~count >> 8)] + Array(text.utf8)
        for _ in 0..<mebibytes { bytes += letters }
        return bytes
    }
}

extension Workspace {
    /// Returns a workspace with a store of the service, without a pull.
    static func made(_ service: HostileService, _ queries: String...) throws -> Workspace {
        let workspace = try Workspace()
        workspace.origin = service.origin
        _ = try workspace.run(["init", service.root] + queries.flatMap { ["--query", $0] })
        return workspace
    }

    /// Runs `tidelog` and also returns its peak memory in MiB, or nil if the system does not report it.
    func measured(_ arguments: String...) throws -> (run: Run, peak: Int?) {
        let running = try start(arguments)
        let status = URL(fileURLWithPath: "/proc/\(running.process.processIdentifier)/status")
        var peak: Int?
        while running.process.isRunning {
            if let text = try? String(contentsOf: status, encoding: .utf8),
                let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
                let kibibytes = line.split(separator: " ").compactMap({ Int($0) }).first
            {
                peak = max(peak ?? 0, kibibytes / 1_024)
            }
            usleep(1_000)
        }
        running.process.waitUntilExit()
        let run = Run(
            status: running.process.terminationStatus, output: text(running.output), error: text(running.error))
        return (run, peak)
    }
}
