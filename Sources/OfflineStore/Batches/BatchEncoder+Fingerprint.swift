import Crypto
import EDM
import ODataWire
package import Operations
package import SyncCore

extension BatchEncoder {
    /// Returns the bytes that the fingerprint of single requests covers: the requests without the headers that the
    /// session adds to each sending. The fingerprint of a `$batch` request covers its body.
    package static func bytes(ofSingle batch: UploadedBatch) -> [UInt8] { batch.wires.flatMap(\.bytes) }

    /// Returns the fingerprint of these bytes and of the options that they were encoded with.
    package func fingerprint(_ bytes: [UInt8]) -> BatchPrepared.Fingerprint {
        let standard = ServiceOptions.unnamedInFingerprints.named
        let differing = zip(options.resolved(for: version).named, standard).filter { $0.value != $1.value }.map(\.0)
        return BatchPrepared.Fingerprint(
            byteCount: UInt64(bytes.count), digest: Array(SHA256.hash(data: bytes)),
            options: differing.map { BatchPrepared.Fingerprint.Option(name: $0.name, value: $0.value) })
    }
}

extension WireRequest {
    /// Method, URL, headers and body in the order of HTTP/1.1, separated by line feeds.
    fileprivate var bytes: [UInt8] {
        let lines = ["\(method) \(url)"] + headers.fields.map { "\($0.name): \($0.value)" }
        return Array(lines.joined(separator: "\n").utf8) + Array("\n\n".utf8) + body
    }
}
