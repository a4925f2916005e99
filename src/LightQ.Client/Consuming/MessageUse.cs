using System.Buffers.Binary;
using System.Diagnostics;
using System.Reflection;
using System.Runtime.CompilerServices;
using LightQ.Protocol.Records;

namespace LightQ.Client.Consuming;

/// <summary>Checks that a message is read only while it is valid.</summary>
internal static class MessageUse
{
    /// <summary>The body's length of a message that is over; no message has it.</summary>
    public const uint Over = RecordLayout.Tombstone - 1;

    private const string Switch = "LightQ.Client.CheckMessageUse";

    /// <summary>
    /// Whether it is checked: as the switch says, or else in a program that is compiled for debugging.
    /// </summary>
    public static bool IsChecked { get; } =
        AppContext.TryGetSwitch(Switch, out bool isChecked)
            ? isChecked
            : Assembly.GetEntryAssembly()?.GetCustomAttribute<DebuggableAttribute>()
                is { IsJITOptimizerDisabled: true };

    /// <summary>The length of a body that is none: 0 for a tombstone.</summary>
    /// <exception cref="InvalidOperationException">The message is over.</exception>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int LengthOf(uint bodyField) =>
        bodyField != Over
            ? 0
            : throw new InvalidOperationException(
                "The message was read after the next one came, when its memory holds another one. To keep a message "
                    + "longer, copy it: ToOwned()."
            );

    /// <summary>Ends a record: no key, no headers, no body, and bytes that belong to no message.</summary>
    public static void End(Span<byte> record)
    {
        record.Fill(0xDD);
        BinaryPrimitives.WriteUInt32LittleEndian(record, Over);
        BinaryPrimitives.WriteUInt16LittleEndian(record[4..], RecordLayout.NoKey);
        BinaryPrimitives.WriteUInt16LittleEndian(record[6..], 0);
    }
}
