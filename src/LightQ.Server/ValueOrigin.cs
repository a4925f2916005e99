namespace LightQ.Server;

/// <summary>A value as it was read from a configuration.</summary>
/// <param name="Text">The value, in the form of the configuration.</param>
/// <param name="Source">Where it comes from.</param>
internal readonly record struct ValueOrigin(string Text, ValueSource Source);
