import DiskSimulation
import Testing

@testable import OperationLog

@Suite struct EncryptionTests {
    private static let encrypted = OperationLog.Options(segmentSize: 400, runSize: 150, keys: [Sample.key])

    private func verify(_ disk: SimulatedDisk, keys: [LogKey]) throws -> LogVerification {
        try LogVerification.verify(directory: Sample.directory, keys: keys, fileSystem: disk)
    }

    @Test(arguments: [OperationLog.Options.Compression.stored, .zstd(level: 3)])
    func `records that are written with a key are read with the key`(compression: OperationLog.Options.Compression)
        throws
    {
        let disk = SimulatedDisk()
        var options = Self.encrypted
        options.compression = compression
        try Sample.write(disk, commits: [1, 3, 1, 2, 1, 4, 1, 1], options)
        #expect(try Sample.read(disk, keys: [Sample.key]) == Sample.expected(1...14))
        #expect(try Sample.read(disk, from: 9, keys: [Sample.otherKey, Sample.key]) == Sample.expected(9...14))
        let report = try verify(disk, keys: [Sample.key])
        #expect(report.isSound && report.tail == nil && report.records == 14 && report.segments.count > 2)
        let (log, recovery) = try Sample.open(disk, options)
        #expect(recovery.cut == nil && log.nextSequence == 15)
    }

    @Test func `no file of an encrypted log contains the bytes of a record or checksums of them`() throws {
        let disk = SimulatedDisk()
        var options = Self.encrypted
        options.compression = .stored
        try Sample.write(disk, commits: Array(repeating: 1, count: 20), options)
        var chain = Sample.store.initialChain
        var checksums: Set<UInt32> = [chain]
        for sequence in UInt64(1)...20 {
            var raw: [UInt8] = []
            RecordCoding.encode(kind: Sample.kind(sequence), payload: Sample.payload(sequence), into: &raw)
            chain = crc32c(raw[...], continuing: chain)
            checksums.formUnion([chain, crc32c(raw[...])])
        }
        for path in disk.paths where path.hasPrefix(Sample.directory) {
            let bytes = disk[path]
            #expect(!bytes.contains(Array("operation".utf8)), "\(path)")
            for start in 0..<bytes.count - 3 {
                let number: UInt32 = bytes[start...].load(FieldLayout("any", 0, 4))
                #expect(!checksums.contains(number), "\(path), offset \(start)")
            }
        }
    }

    @Test func `without the key or with a different key nothing opens, and the error distinguishes both`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [1, 1], Self.encrypted)
        let files = disk.paths.map { disk[$0] }
        for (keys, expected) in [
            ([], LogError.keyRequired(path: Sample.segment(1))),
            ([Sample.otherKey], LogError.wrongKey(path: Sample.segment(1))),
        ] as [([LogKey], LogError)] {
            #expect(throws: expected) { try Sample.open(disk, .init(keys: keys)) }
            #expect(throws: expected) { try Sample.read(disk, keys: keys) }
            #expect(throws: expected) { try verify(disk, keys: keys) }
        }
        #expect(disk.paths.map { disk[$0] } == files)
    }

    @Test func `a new key encrypts all later records, and nothing is rewritten`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [2], .init())
        let plain = disk[Sample.segment(1)]
        try Sample.write(disk, commits: [1, 1], .init(keys: [Sample.key]))
        let first = disk[Sample.segment(3)]
        try Sample.write(disk, commits: [1], .init(keys: [Sample.otherKey, Sample.key]))
        #expect(disk[Sample.segment(1)].starts(with: plain))
        #expect(disk[Sample.segment(3)].starts(with: first))
        #expect(disk.paths.filter { $0.hasSuffix(".segment") } == [1, 3, 5].map(Sample.segment))
        let keys = [Sample.key, Sample.otherKey]
        #expect(try Sample.read(disk, keys: keys) == Sample.expected(1...5))
        #expect(try verify(disk, keys: keys).isSound)
        // The unencrypted segment needs no key; the other segments do.
        #expect(throws: LogError.keyRequired(path: Sample.segment(3))) { try Sample.read(disk) }
        #expect(throws: LogError.wrongKey(path: Sample.segment(5))) { try Sample.read(disk, keys: [Sample.key]) }
        #expect(throws: LogError.wrongKey(path: Sample.segment(3))) {
            try Sample.open(disk, .init(keys: [Sample.otherKey]))
        }
        // Appending with the first key again starts a new segment.
        try Sample.write(disk, commits: [1], .init(keys: keys))
        #expect(disk.paths.contains(Sample.segment(6)))
        #expect(try Sample.read(disk, keys: keys) == Sample.expected(1...6))
    }

    @Test func `a last segment without blocks is replaced by an encrypted one`() throws {
        let disk = SimulatedDisk()
        try Sample.open(disk).log.close()
        try Sample.write(disk, commits: [1], .init(keys: [Sample.key]))
        #expect(throws: LogError.keyRequired(path: Sample.segment(1))) { try Sample.read(disk) }
        #expect(try Sample.read(disk, keys: [Sample.key]) == Sample.expected(1...1))
    }

    @Test func `a reader at the end of a segment without blocks continues after an encrypted one replaces it`() throws {
        let disk = SimulatedDisk()
        try Sample.open(disk).log.close()
        let cursor = try LogReader(directory: Sample.directory, keys: [Sample.key], fileSystem: disk).records()
        #expect(try cursor.next() == nil)
        try Sample.write(disk, commits: [1, 1, 2, 1, 1, 1], Self.encrypted)
        #expect(try Sample.records(cursor) == Sample.expected(1...7))
    }

    @Test func `no nonce and no salt is used twice, also after crashes`() throws {
        // The content for which each nonce and each salt is used. The same block in two images counts once.
        var nonces: [[UInt8]: [UInt8]] = [:]
        var salts: [[UInt8]: [UInt8]] = [:]
        for call in 5..<60 {
            let disk = SimulatedDisk()
            disk.fail(atCall: call, .crash)
            _ = try? Sample.write(disk, commits: Array(repeating: 1, count: 15), Self.encrypted)
            let left = disk.tearing(lastWriteTo: 60)
            _ = try? Sample.write(left, commits: [1, 1], Self.encrypted)
            // Content that the crash cut off counts too, because a copy of it may exist.
            for image in [disk.tearing(lastWriteTo: .max), left] {
                for path in image.paths where path.hasSuffix(".segment") {
                    let header = try SegmentHeader.decode(image[path])
                    guard let salt = header.encryption?.salt else { continue }
                    let encoded = header.encoded()
                    #expect(salts.updateValue(encoded, forKey: salt) ?? encoded == encoded)
                    let segment = try SegmentFile(
                        image, directory: Sample.directory, firstSequence: header.firstSequence, mode: .read,
                        keys: [Sample.key])
                    var position = segment.start
                    while case .records(let block) = try segment.step(at: position) {
                        let nonce = Array(block.payload.prefix(SegmentCipher.nonceSize))
                        let use = salt + block.payload
                        #expect(nonces.updateValue(use, forKey: nonce) ?? use == use)
                        position = block.next
                    }
                }
            }
        }
        print("segments: \(salts.count), blocks: \(nonces.count)")
        #expect(salts.count > 100 && nonces.count > 400)
    }

    @Test func `a key never prints its secret`() {
        let secret = Array("a secret of thirty-two bytes ...".utf8)
        let key = LogKey(secret)!
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped, "\(OperationLog.Options(keys: [key]))"] {
            #expect(!text.contains("secret of") && !text.contains("97, 32, 115"), "\(text)")
        }
        #expect(LogKey([UInt8](repeating: 0, count: 31)) == nil && LogKey([UInt8](repeating: 0, count: 33)) == nil)
    }

    @Test func `the key identifier differs between stores and between keys`() {
        let other = StoreIdentifier(bytes: Array(2...17))!
        let identifiers = [
            Sample.key.identifier(in: Sample.store), Sample.key.identifier(in: other),
            Sample.otherKey.identifier(in: Sample.store),
        ]
        #expect(Set(identifiers).count == 3 && identifiers.allSatisfy { $0.count == 16 })
    }
}

extension [UInt8] {
    func contains(_ other: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: other) }
    }
}
