import EDM
import ODataQuery
import OperationLog

/// Fast search for many texts in bytes, ignoring case.
struct SecretSearch {
    private let bytes: [UInt8]
    private var places: [UInt64: [Int]] = [:]

    init(_ content: [UInt8]) {
        bytes = content.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        guard bytes.count > 6 else { return }
        var window: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            window = (window << 8 | UInt64(byte)) & 0xFFFF_FFFF_FFFF
            if index >= 5 { places[window, default: []].append(index - 5) }
        }
    }

    func hold(_ text: String) -> Bool {
        let needle = text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        let key = needle.prefix(6).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return (places[key] ?? []).contains { bytes[$0...].starts(with: needle) }
    }

    /// Whether the bytes contain a secret in any form: unchanged, percent-encoded, in Base64 at each of three offsets,
    /// escaped as in JSON, or without hyphens.
    func holdAny(of secret: String) -> Bool {
        let bytes = Array(secret.utf8)
        let percent = bytes.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let escaped = secret.unicodeScalars.map { "\\u00" + String($0.value, radix: 16) }.joined()
        let coded = (0..<3).map { shift in
            let text = Base64.encode([UInt8](repeating: 0x41, count: shift) + bytes, .standard)
            // Omits the characters that depend on adjacent bytes.
            return String(
                text.dropFirst(shift == 0 ? 0 : 4).prefix(max(8, (bytes.count - 3) / 3 * 4)).filter { $0 != "=" })
        }
        return ([secret, percent, escaped, secret.filter { $0 != "-" }] + coded.filter { $0.utf8.count >= 8 }).contains(
            where: hold)
    }
}
