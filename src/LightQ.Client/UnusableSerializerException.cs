namespace LightQ.Client;

/// <summary>
/// A serializer cannot read any body, whatever it holds: no message is to blame. A processor pauses; an enumeration of
/// values ends.
/// </summary>
public sealed class UnusableSerializerException : Exception
{
    /// <summary>Creates the exception.</summary>
    /// <param name="valueType">The type of value that the serializer is for.</param>
    /// <param name="innerException">What is wrong with the serializer.</param>
    public UnusableSerializerException(Type valueType, Exception innerException)
        : base(Describe(valueType, innerException), innerException) => ValueType = valueType;

    /// <summary>The type of value that the serializer is for.</summary>
    public Type ValueType { get; }

    private static string Describe(Type valueType, Exception cause)
    {
        ArgumentNullException.ThrowIfNull(valueType);
        ArgumentNullException.ThrowIfNull(cause);
        return $"The serializer of {valueType.Name} cannot read any body: {cause.Message}";
    }
}
