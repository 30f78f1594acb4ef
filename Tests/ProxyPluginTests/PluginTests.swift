import LibraryService
import Testing
import Tidelog

/// The classes of `SampleServices/Library`, which the build-tool plugin generates.
@Suite struct PluginTests {
    @Test func `a class of the target's document has its properties`() {
        let book = Book()
        book.title = "Middlemarch"
        #expect(book.title == "Middlemarch")
        #expect(book.entityType.name == "Lending.Book")
    }

    @Test func `a name is the one that the options' annotations choose`() {
        let book = Book()
        book.pageCount = 880
        #expect(book.dataValue(for: Book.pageCount) == .integer(880))
    }

    @Test func `a base type of a document that is referred to is read where the document is`() {
        let reader = Reader()
        reader.name = "Dorothea"
        let person: Person = reader
        #expect(person.name == "Dorothea")
        #expect(reader.dataValue(for: Person.name) == .string("Dorothea"))
    }

    @Test func `a class that the build makes can be extended beside the document`() {
        let reader = Reader()
        reader.cardNumber = 7
        #expect(reader.hasCard)
    }

    @Test func `documents of one name have sources of their own, in one folder and in two`() {
        #expect(Branch().entityType.name == "Lending.Branches.Branch")
        #expect(Shelf().entityType.name == "Lending.Shelves.Shelf")
    }

    @Test func `the service is the one that the options' annotations name`() {
        #expect(LendingLibraryMetadata.embedded.model.findEntitySet("Readers")?.entityType.name == "Lending.Reader")
        let service: DataService.Type = LendingLibrary.self
        #expect("\(service)" == "LendingLibrary")
    }
}
