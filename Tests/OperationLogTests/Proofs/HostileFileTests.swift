import DiskSimulation
import Testing

@testable import LogWriter
@testable import OperationLog

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

#if os(Linux) || os(macOS)
    /// Files that request as much memory as the format permits. A separate process reads, verifies and opens each of
    /// them and reports its memory use.
    @Suite struct HostileFileTests {
        /// The limit that the format guarantees, in KiB.
        private static let bound: UInt64 = 64 * 1024

        enum File: CaseIterable {
            case largestRecord, largestRecordCompressed, largestRecordEncrypted, bomb, longestFooter, impossibleLengths

            func bytes() throws -> [UInt8] {
                switch self {
                case .largestRecord: try HostileFileTests.written(.stored, key: nil)
                case .largestRecordCompressed: try HostileFileTests.written(.zstd(level: 1), key: nil)
                case .largestRecordEncrypted: try HostileFileTests.written(.zstd(level: 1), key: WriterMode.key)
                case .bomb: try HostileFileTests.bomb()
                case .longestFooter: HostileFileTests.longestFooter()
                case .impossibleLengths: HostileFileTests.impossibleLengths()
                }
            }
        }

        @Test(arguments: File.allCases)
        func `reading a file with any content needs at most 64 MiB of memory`(file: File) throws {
            let store = TemporaryDirectory()
            defer { store.remove() }
            #expect(mkdir(store.path + "/log", 0o777) == 0)
            let segment = try PosixFileSystem().open(
                store.path + "/log/" + SegmentName.name(firstSequence: 1), .create)
            try segment.write(file.bytes(), at: 0)
            segment.close()
            let kilobytes = try WriterProcess.memory(toRead: store.path)
            print("hostile file, \(file): \(kilobytes) KiB")
            #expect(kilobytes > 0 && kilobytes <= Self.bound)
        }

        /// Returns a segment with two records of the maximum size, whose bytes are not compressible.
        private static func written(_ compression: OperationLog.Options.Compression, key: LogKey?) throws -> [UInt8] {
            let disk = SimulatedDisk()
            let options = OperationLog.Options(
                compression: compression, sealing: .asWritten, segmentSize: .max, keys: key.map { [$0] } ?? [])
            let log = try Sample.open(disk, options).log
            var payload = [UInt8](repeating: 0, count: LogFormat.maximumPayload)
            let random = try #require(fopen("/dev/urandom", "r"))
            defer { fclose(random) }
            #expect(fread(&payload, 1, payload.count, random) == payload.count)
            try log.append([(kind: 1, payload: payload), (kind: 2, payload: payload)])
            log.close()
            return disk[Sample.segment(1)]
        }

        /// Returns a segment with a block that declares 16 MiB and decompresses to one gigabyte.
        private static func bomb() throws -> [UInt8] {
            let compressor = try RunCompressor(level: 1)
            compressor.startRun()
            let zeroes = [UInt8](repeating: 0, count: LogFormat.maximumBlockRaw)
            // The beginning of the frame, and a part that can follow any number of times.
            var beginning: [UInt8] = []
            try compressor.compress(zeroes[...], into: &beginning)
            var more: [UInt8] = []
            try compressor.compress(zeroes[...], into: &more)
            let payload = beginning + (1..<64).flatMap { _ in more }
            return segment { header in
                header.method = BlockMethod.zstdRun
                header.recordCount = 1
                header.rawLength = UInt32(LogFormat.maximumBlockRaw)
            } payload: {
                payload
            }
        }

        private static func longestFooter() -> [UInt8] {
            let count =
                (LogFormat.maximumBlockRaw - SegmentFooter.Layout.byteCount) / SegmentFooter.Entry.Layout.byteCount
            let entries = (0..<UInt64(count)).map { SegmentFooter.Entry(sequence: $0 + 1, offset: 64 + $0) }
            let footer = SegmentFooter(
                lastSequence: UInt64(count), rawBytes: 1, blockCount: UInt32(count), digest: 0, entries: entries)
            let bytes = segment { header in
                header.type = BlockType.footer
                header.firstSequence = UInt64(count) + 1
                header.chainAfter = header.chainBefore
            } payload: {
                footer.encoded()
            }
            return bytes
                + SegmentTrailer.encoded(
                    footerOffset: 64, segmentChecksum: bytes[...].load(SegmentHeader.Layout.checksum))
        }

        private static func impossibleLengths() -> [UInt8] {
            segment { header in
                header.recordCount = .max
                header.rawLength = .max
                header.storedLength = .max
            } payload: {
                [1, 0]
            }
        }

        /// Returns a segment with one block and correct checksums.
        private static func segment(
            _ change: (inout BlockHeader) -> Void, payload: () -> [UInt8]
        ) -> [UInt8] {
            let segment = SegmentHeader(
                storeIdentifier: Sample.store, firstSequence: 1, chain: Sample.store.initialChain, isFirst: true,
                key: nil)
            var bytes = segment.encoded()
            let binding = SegmentBinding(checksum: bytes[...].load(SegmentHeader.Layout.checksum), cipher: nil)
            let payload = payload()
            var header = BlockHeader(
                type: BlockType.records, method: BlockMethod.stored, flags: [.startsRun], firstSequence: 1,
                recordCount: 0,
                rawLength: UInt32(payload.count), storedLength: UInt32(payload.count),
                chainBefore: Sample.store.initialChain, chainAfter: 0, payloadChecksum: crc32c(payload[...]))
            change(&header)
            let start = bytes.count
            bytes += [UInt8](repeating: 0, count: BlockHeader.Layout.byteCount)
            header.encode(into: &bytes, at: start, binding: binding)
            return bytes + payload
        }
    }
#endif
