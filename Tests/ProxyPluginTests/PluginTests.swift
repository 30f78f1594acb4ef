import LibraryService
import Testing
import Tidelog

/// The classes of `SampleServices/Library`, which the build-tool plugin generates.
@Suite struct PluginTests {
    @Test func `a class is generated for a type in the target's document`() {
        let book = Book()
        book.title = "Middlemarch"
        #expect(book.title == "Middlemarch")
        #expect(book.entityType.name == "Lending.Book")
    }

    @Test func `the annotations in the options set a property name`() {
        let book = Book()
        book.pageCount = 880
        #expect(book.dataValue(for: Book.pageCount) == .integer(880))
    }

    @Test func `a base type in a referenced document is read from the document's folder`() {
        let reader = Reader()
        reader.name = "Dorothea"
        let person: Person = reader
        #expect(person.name == "Dorothea")
        #expect(reader.dataValue(for: Person.name) == .string("Dorothea"))
    }

    @Test func `a generated class can be extended in the target`() {
        let reader = Reader()
        reader.cardNumber = 7
        #expect(reader.hasCard)
    }

    @Test func `documents with the same name have separate sources, in one folder and in two`() {
        #expect(Branch().entityType.name == "Lending.Branches.Branch")
        #expect(Shelf().entityType.name == "Lending.Shelves.Shelf")
    }

    @Test func `the annotations in the options set the name of the service`() {
        #expect(LendingLibraryMetadata.embedded.model.findEntitySet("Readers")?.entityType.name == "Lending.Reader")
        let service: DataService.Type = LendingLibrary.self
        #expect("\(service)" == "LendingLibrary")
    }
}
