package import EDM

/// The replacement of complex values by a PATCH.
///
/// An update replaces a complex value as a whole, but a service leaves the members of a complex property that the body
/// omits unchanged (OData 4.0 Part 1, section 11.4.3; V2 services may do so after MERGE). The body therefore sets the
/// members that the new value lacks to null. Members that were never read, that cannot be null, or that a new value of
/// another type does not have, are omitted.
extension PropertyValues {
    package var containsComplexValue: Bool { contains { if case .complex = $0.value { true } else { false } } }

    /// Returns the values that the service may have after a request with these changes, which it may also refuse: the
    /// changes, and the members that only the current complex values have.
    func merging(_ changes: PropertyValues) -> PropertyValues {
        var values = self
        for (name, value) in changes { values[name] = values[name]?.merging(value) ?? value }
        return values
    }

    /// Returns the changes that replace complex values of the current values by those of these changes.
    package func replacing(
        _ current: PropertyValues, of type: EntityType, _ model: EntityDataModel
    ) -> PropertyValues {
        var result = self
        for (name, value) in self {
            // A nested key value cannot be changed.
            let isOfKey = type.keyParts.contains { $0.isNested && $0.path.hasPrefix(name + "/") }
            guard let old = current[name], !isOfKey else { continue }
            result[name] = value.replacing(old, declared: type.findProperty(name)?.type, model)
        }
        return result
    }
}

extension Value {
    fileprivate func merging(_ new: Value) -> Value {
        if new == .null { return self }
        guard case .complex(var old) = self, case .complex(let changes) = new, changes.type == old.type else {
            return new
        }
        old.properties = old.properties.merging(changes.properties)
        return .complex(old)
    }

    /// Returns the value with null for each member of the current value that it lacks, if both are complex values. The
    /// members of another type than its own are those that it shares.
    fileprivate func replacing(_ current: Value, declared: TypeReference?, _ model: EntityDataModel) -> Value {
        guard case .complex(var new) = self, case .complex(let old) = current else { return self }
        let base: String? = if case .complex(let name)? = declared?.kind { name } else { nil }
        let isSameType = new.type ?? base == old.type ?? base
        let type = (new.type ?? base).flatMap(model.findComplexType)
        for (name, value) in old.properties where value != .null {
            let property = type?.findProperty(name)
            guard isSameType || property != nil else { continue }
            if let own = new.properties[name] {
                new.properties[name] = own.replacing(value, declared: property?.type, model)
            } else if property?.isWritable != false {
                if property?.isCollection == true {
                    new.properties[name] = .collection([])
                } else if property?.isNullable != false {
                    new.properties[name] = .null
                }
            }
        }
        return .complex(new)
    }
}
