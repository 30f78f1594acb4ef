import Crypto

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Encrypts and authenticates what is in one file, with AES-256-GCM under a key that no other file has.
///
/// What is sealed is bound to its place: at another one it does not open. Sealed bytes are a nonce, the encrypted bytes and a
/// tag. A page is as long as before, since SQLite leaves as many bytes free at its end as nonce and tag take.
///
/// No nonce is used twice under a key: they are counted up from a number of 96 bits that is drawn at random whenever the file
/// is opened.
struct PageSeal {
    static let nonceSize = 12
    static let tagSize = 16
    /// How much longer bytes are when they are sealed; of a page, the bytes at its end that are left free.
    static let overhead = nonceSize + tagSize

    /// What sealed bytes are bound to.
    struct Place {
        private let number: UInt64
        private let detail: (UInt64, UInt64)

        /// A page of the database, counted from 1.
        static func page(_ number: Int) -> Place { Place(number: UInt64(number), detail: (0, 0)) }

        /// The page in a frame of the write-ahead log, counted from 1, with what the frame's header says of it: which page
        /// it is, whether a transaction ends with it, and in which round of the log it was written.
        static func frame(_ number: Int, _ header: (UInt64, UInt64)) -> Place {
            Place(number: UInt64(number) | 1 << 63, detail: header)
        }

        /// The mark that says how far the write-ahead log has been.
        static let mark = Place(number: 0, detail: (0, 0))

        fileprivate func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
            let bytes = (number.littleEndian, detail.0, detail.1)
            return try withUnsafeBytes(of: bytes, body)
        }
    }

    private let key: SymmetricKey
    private var nonce: (high: UInt64, low: UInt32)

    init(_ key: SymmetricKey) {
        self.key = key
        var generator = SystemRandomNumberGenerator()
        nonce = (.random(in: 0 ... .max, using: &generator), .random(in: 0 ... .max, using: &generator))
    }

    private mutating func nextNonce() throws -> AES.GCM.Nonce {
        nonce.low &+= 1
        if nonce.low == 0 { nonce.high &+= 1 }
        return try withUnsafeTemporaryAllocation(byteCount: Self.nonceSize, alignment: 8) { bytes in
            bytes.storeBytes(of: nonce.high.littleEndian, as: UInt64.self)
            bytes.storeBytes(of: nonce.low.littleEndian, toByteOffset: 8, as: UInt32.self)
            return try AES.GCM.Nonce(data: UnsafeRawBufferPointer(bytes))
        }
    }

    /// Seals `content` into `sealed`, which is ``overhead`` longer. Returns whether it could.
    mutating func seal(
        _ content: UnsafeRawBufferPointer, into sealed: UnsafeMutableRawBufferPointer, at place: Place
    ) -> Bool {
        guard let nonce = try? nextNonce(),
            let box = try? place.withBytes({ try AES.GCM.seal(content, using: key, nonce: nonce, authenticating: $0) }),
            // Nil for nonces of other sizes only.
            let combined = box.combined, combined.count == sealed.count
        else { return false }
        combined.withUnsafeBytes { sealed.copyMemory(from: $0) }
        return true
    }

    /// Opens `sealed` into `content`, which is at least as long as what comes out and may be the same memory. Returns whether
    /// it is what was sealed, with this key, for this place; nothing is written if it is not.
    func open(
        _ sealed: UnsafeRawBufferPointer, into content: UnsafeMutableRawBufferPointer, at place: Place
    ) -> Bool {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let opened = try? place.withBytes({ try AES.GCM.open(box, using: key, authenticating: $0) })
        else { return false }
        opened.withUnsafeBytes { content.copyMemory(from: $0) }
        return true
    }

    /// The same for a page. The bytes that are left free are zero.
    mutating func sealPage(
        _ page: UnsafeRawBufferPointer, into sealed: UnsafeMutableRawBufferPointer, at place: Place
    ) -> Bool {
        seal(UnsafeRawBufferPointer(rebasing: page[..<(page.count - Self.overhead)]), into: sealed, at: place)
    }

    func openPage(
        _ sealed: UnsafeRawBufferPointer, into page: UnsafeMutableRawBufferPointer, at place: Place
    ) -> Bool {
        guard open(sealed, into: page, at: place) else { return false }
        let free = UnsafeMutableRawBufferPointer(rebasing: page[(page.count - Self.overhead)...])
        _ = free.initializeMemory(as: UInt8.self, repeating: 0)
        return true
    }
}
