internal import CBench
internal import Foundation
internal import OfflineStore
internal import SyncEngine
internal import Transport

/// A second process of this program that serves the pages of a folder on loopback until this object is released.
final class PageServer {
    private let process = Process()
    /// The root of the service, with a slash at its end.
    let root: String

    init(pages folder: String) throws {
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments = [Bench.download.name, "--serve", folder]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let answer = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = UInt16(answer.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            process.terminate()
            throw Failure("The server of pages did not start: \(answer)")
        }
        root = "http://127.0.0.1:\(port)/"
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    /// Serves the pages, in the server's own process. Returns only if it cannot serve them.
    static func run(pages folder: String) throws {
        let error = bench_serve_pages(folder) { port in
            Console.line("\(port)")
            fflush(nil)
        }
        throw Failure("The pages cannot be served: \(String(cString: strerror(error))).")
    }

    /// Returns the number of rows per second with the engine and the real transport.
    static func rate(rows: Int, pages folder: String, in directory: Directory) async throws -> Double {
        let server = try PageServer(pages: folder)
        let store = try await DownloadWorkload.store(StoreFiles(directory: directory.fresh("loopback")))
        let engine = SyncEngine(
            store: store, session: ServiceSession(root: server.root, transport: defaultTransport()))
        try await DownloadWorkload.addQueries(engine)
        _ = try await engine.download(["Customers"])
        let seconds = try await Stopwatch.seconds {
            let report = try await engine.download(["Orders"])
            guard report.entities == rows else {
                throw Failure("The download returned \(report.entities) of \(rows) orders.")
            }
        }
        await store.close()
        return Double(rows) / seconds
    }
}
