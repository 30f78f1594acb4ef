import CPlatform

/// CRC-32C of the bytes, continued from the checksum of those before them.
func crc32c(_ bytes: UnsafeRawBufferPointer, continuing start: UInt32 = 0) -> UInt32 {
    tidelog_crc32c(start, bytes.baseAddress, bytes.count)
}

func crc32c(_ bytes: ArraySlice<UInt8>, continuing start: UInt32 = 0) -> UInt32 {
    bytes.withUnsafeBytes { crc32c($0, continuing: start) }
}

/// Of a stretch of an array that is about to be changed: a slice would hold on to it, and the change would copy it.
func crc32c(of bytes: [UInt8], in range: Range<Int>, continuing start: UInt32 = 0) -> UInt32 {
    bytes.withUnsafeBytes { crc32c(UnsafeRawBufferPointer(rebasing: $0[range]), continuing: start) }
}

/// The same without the processor's instruction, as on processors that have none.
func crc32cByTables(_ bytes: ArraySlice<UInt8>, continuing start: UInt32 = 0) -> UInt32 {
    bytes.withUnsafeBytes { tidelog_crc32c_portable(start, $0.baseAddress, $0.count) }
}
