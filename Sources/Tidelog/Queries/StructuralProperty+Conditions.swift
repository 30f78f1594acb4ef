public import EDM
public import ODataWire

extension StructuralProperty: DynamicOperand {
    public var queryExpression: Expression { .property(property.name) }
    public var queryType: TypeReference? { property.type }
}
