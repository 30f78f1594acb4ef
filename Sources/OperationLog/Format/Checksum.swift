import CPlatform

/// Returns the CRC-32C of the bytes, continued from the checksum of the bytes before them.
func crc32c(_ bytes: UnsafeRawBufferPointer, continuing start: UInt32 = 0) -> UInt32 {
    tidelog_crc32c(start, bytes.baseAddress, bytes.count)
}

func crc32c(_ bytes: ArraySlice<UInt8>, continuing start: UInt32 = 0) -> UInt32 {
    bytes.withUnsafeBytes { crc32c($0, continuing: start) }
}

/// Returns the CRC-32C of a range of an array that is about to be changed.
///
/// A slice would retain the array, so that the change would copy it.
func crc32c(of bytes: [UInt8], in range: Range<Int>, continuing start: UInt32 = 0) -> UInt32 {
    bytes.withUnsafeBytes { crc32c(UnsafeRawBufferPointer(rebasing: $0[range]), continuing: start) }
}

/// Returns the same checksum without the processor's CRC instruction, as on processors that lack it.
func crc32cByTables(_ bytes: ArraySlice<UInt8>, continuing start: UInt32 = 0) -> UInt32 {
    bytes.withUnsafeBytes { tidelog_crc32c_portable(start, $0.baseAddress, $0.count) }
}
