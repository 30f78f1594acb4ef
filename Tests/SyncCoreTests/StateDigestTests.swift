import Testing

@testable import SyncCore

@Suite struct StateDigestTests {
    @Test(arguments: [(UInt64(0), "0000000000000000"), (0xA, "000000000000000a"), (.max, "ffffffffffffffff")])
    func `a digest is printed with sixteen digits and parsed again`(value: UInt64, text: String) {
        #expect(FNV1a.text(value) == text)
        #expect(StateDigest(value: value).description == text)
        #expect(StateDigest(text)?.value == value)
    }
}
