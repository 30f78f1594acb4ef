internal import Foundation
internal import ProxyGenerator

/// The cost of generating the classes of a large service.
enum GeneratorCase {
    /// Adds the case for the largest document of the conformance corpora, if they are available.
    static func add(to report: inout Report, _ surroundings: BenchEnvironment) throws {
        let root = URL(filePath: #filePath).appending(path: "../../../../..").standardized
        let folder = root.appending(path: "../shared/conformance/csdl").standardized
        guard let document = largestDocument(in: folder) else {
            report.notes.append("The generator was not measured: the conformance corpora are not next to the checkout.")
            return
        }
        let bytes = [UInt8](try Data(contentsOf: document.url))
        surroundings.say("relations: generating from \(document.url.lastPathComponent)")
        var files = 0
        var times: [Double] = []
        for _ in 0..<surroundings.rounds {
            let start = ContinuousClock.now
            files = try ProxySources(metadata: bytes).files.count
            times.append(Stopwatch.seconds(since: start) * 1e3)
        }
        report.cases.append(
            Case("generate the largest document", median(times), .milliseconds, target: .atMost(5_000)))
        report.notes.append(
            "The largest document: \(document.url.lastPathComponent), \(bytes.count / 1024) KiB, \(files) files.")
    }

    private static func largestDocument(in folder: URL) -> (url: URL, size: Int)? {
        let keys: [URLResourceKey] = [.fileSizeKey]
        guard let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: keys) else {
            return nil
        }
        var largest: (url: URL, size: Int)?
        for case let url as URL in files where url.pathExtension == "xml" && !url.path.contains("/invalid/") {
            let size = (try? url.resourceValues(forKeys: Set(keys)).fileSize) ?? 0
            if size > largest?.size ?? 0 { largest = (url, size) }
        }
        return largest
    }
}
