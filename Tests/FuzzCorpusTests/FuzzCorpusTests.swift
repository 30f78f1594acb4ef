import FuzzTargets
import SeededRandom
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The inputs that fuzzing has collected, run without the fuzzer. They cover each path through the code once.
@Suite struct FuzzCorpusTests {
    @Test(arguments: FuzzTarget.allCases)
    func `the invariants of a fuzz target hold for its seeds and the corpus`(target: FuzzTarget) throws {
        let corpus = try Corpus.files(of: target)
        for seed in target.seeds { try target.run(seed) }
        for (name, bytes) in corpus {
            do {
                try target.run(bytes)
            } catch {
                Issue.record("\(target.rawValue)/\(name): \(error)")
            }
        }
        print("fuzz inputs, \(target.rawValue): \(target.seeds.count) seeds, \(corpus.count) of the corpus")
        #expect(!corpus.isEmpty)
    }

    @Test(.enabled(if: Corpus.hasConformance), arguments: FuzzTarget.allCases)
    func `the invariants of a fuzz target hold for the conformance corpora`(target: FuzzTarget) {
        let inputs = target.conformanceInputs(in: Corpus.conformance)
        for (number, bytes) in inputs.enumerated() {
            do {
                try target.run(bytes)
            } catch {
                Issue.record("\(target.rawValue), conformance-\(number): \(error)")
            }
        }
        print("fuzz inputs, \(target.rawValue): \(inputs.count) of the conformance corpora")
        #expect(inputs.isEmpty == !Self.ofServices.contains(target))
    }

    /// The targets for which the conformance corpora have inputs.
    private static let ofServices: Set<FuzzTarget> = [
        .json, .payloads, .metadata, .batchRequests, .batchResponses, .urls, .literals,
    ]

    @Test(arguments: FuzzTarget.allCases)
    func `the invariants of a fuzz target hold for seeds with changed bytes`(target: FuzzTarget) throws {
        let seed = UInt64.testSeed()
        var generator = SeededRandom(seed: seed)
        let runs = 300
        for run in 0..<runs {
            guard var bytes = target.seeds.randomElement(using: &generator), !bytes.isEmpty else { continue }
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0 ... .max, using: &generator)
            }
            do {
                try target.run(bytes)
            } catch {
                Issue.record("\(target.rawValue), seed \(seed), run \(run): \(error)")
            }
        }
        print("changed seeds, \(target.rawValue): \(runs), seed \(seed)")
    }
}

private enum Corpus {
    struct Unreadable: Error { let path: String }

    private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    /// The folder of the conformance corpora.
    static let conformance =
        getenv("TIDELOG_CONFORMANCE").map { String(cString: $0) } ?? root + "/../shared/conformance"

    static let hasConformance: Bool = {
        let isPresent = access(conformance, R_OK) == 0
        if !isPresent { print("skipped: the conformance corpora are not next to the checkout") }
        return isPresent
    }()

    static func files(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
        let folder = "\(root)/Tools/fuzzing/corpus/\(target.rawValue)"
        guard let stream = opendir(folder) else { throw Unreadable(path: folder) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return try names.sorted().map { (name: $0, bytes: try read(folder + "/" + $0)) }
    }

    private static func read(_ path: String) throws -> [UInt8] {
        guard let file = fopen(path, "r") else { throw Unreadable(path: path) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return bytes
    }
}
