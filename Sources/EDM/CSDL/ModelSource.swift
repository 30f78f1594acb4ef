/// The source of the models of metadata documents: it parses a document, or returns the model that its owner has parsed
/// from the same bytes before.
///
/// Stores that live for a moment, as in a simulation, would otherwise spend much of their time on the same documents.
package struct ModelSource: Sendable {
    /// Returns the model of a document.
    package let read: @Sendable ([UInt8]) throws(CSDLError) -> EntityDataModel

    package init(_ read: @escaping @Sendable ([UInt8]) throws(CSDLError) -> EntityDataModel) { self.read = read }

    /// Parses each document.
    package static let parser = ModelSource { bytes throws(CSDLError) in try CSDLReader.read(bytes) }
}
