namespace LightQ.Client.Filtering;

/// <summary>What a filter asks of a header.</summary>
internal enum FilterOperator
{
    /// <summary>That it is there.</summary>
    Exists,

    /// <summary>That one of its values is a given one.</summary>
    Equal,

    /// <summary>That one of its values begins with given bytes.</summary>
    Prefix,
}
