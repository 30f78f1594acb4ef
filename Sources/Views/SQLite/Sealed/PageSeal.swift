import Crypto

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The encryption and authentication of one file, with AES-256-GCM and a key that no other file has.
///
/// Sealed bytes are bound to their place: they cannot be opened at a different place. They consist of a nonce, the
/// ciphertext and a tag. A page keeps its length, because SQLite leaves the bytes that nonce and tag need free at its
/// end.
///
/// No nonce is used twice with a key: nonces are counted up from a random 96-bit number, which is drawn whenever the
/// file is opened.
struct PageSeal {
    static let nonceSize = 12
    static let tagSize = 16
    /// The difference in length between sealed and plain bytes; in a page, the number of free bytes at its end.
    static let overhead = nonceSize + tagSize

    /// The place to which sealed bytes are bound.
    struct AssociatedData {
        private let number: UInt64
        private let detail: (UInt64, UInt64)

        /// A page of the database, counted from 1.
        static func page(_ number: Int) -> AssociatedData { AssociatedData(number: UInt64(number), detail: (0, 0)) }

        /// The page in a frame of the write-ahead log, counted from 1, with the data of the frame's header: the page
        /// number, whether the frame ends a transaction, and the round of the log in which it was written.
        static func frame(_ number: Int, _ header: (UInt64, UInt64)) -> AssociatedData {
            AssociatedData(number: UInt64(number) | 1 << 63, detail: header)
        }

        /// The mark with the extent of the write-ahead log.
        static let mark = AssociatedData(number: 0, detail: (0, 0))

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

    /// Seals `content` into `sealed`, which is ``overhead`` longer. Returns whether this succeeded.
    mutating func seal(
        _ content: UnsafeRawBufferPointer, into sealed: UnsafeMutableRawBufferPointer, at place: AssociatedData
    ) -> Bool {
        guard let nonce = try? nextNonce(),
            let box = try? place.withBytes({ try AES.GCM.seal(content, using: key, nonce: nonce, authenticating: $0) }),
            // Nil only for nonces of other sizes.
            let combined = box.combined, combined.count == sealed.count
        else { return false }
        combined.withUnsafeBytes { sealed.copyMemory(from: $0) }
        return true
    }

    /// Opens `sealed` into `content`, which may be the same memory and has to be large enough. Returns whether the
    /// bytes were sealed with this key for this place; otherwise nothing is written.
    func open(
        _ sealed: UnsafeRawBufferPointer, into content: UnsafeMutableRawBufferPointer, at place: AssociatedData
    ) -> Bool {
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let opened = try? place.withBytes({ try AES.GCM.open(box, using: key, authenticating: $0) })
        else { return false }
        opened.withUnsafeBytes { content.copyMemory(from: $0) }
        return true
    }

    /// Seals a page without its free bytes. ``openPage(_:into:at:)`` sets them to zero.
    mutating func sealPage(
        _ page: UnsafeRawBufferPointer, into sealed: UnsafeMutableRawBufferPointer, at place: AssociatedData
    ) -> Bool {
        seal(UnsafeRawBufferPointer(rebasing: page[..<(page.count - Self.overhead)]), into: sealed, at: place)
    }

    func openPage(
        _ sealed: UnsafeRawBufferPointer, into page: UnsafeMutableRawBufferPointer, at place: AssociatedData
    ) -> Bool {
        guard open(sealed, into: page, at: place) else { return false }
        let free = UnsafeMutableRawBufferPointer(rebasing: page[(page.count - Self.overhead)...])
        _ = free.initializeMemory(as: UInt8.self, repeating: 0)
        return true
    }
}
