namespace LightQ.IntegrationTests.Faults;

/// <summary>What one <see cref="IdleAttack"/> saw.</summary>
internal sealed class IdleAttackFigures
{
    public int Connections { get; set; }

    /// <summary>Until all were open.</summary>
    public int OpenedMilliseconds { get; set; }

    /// <summary>
    /// Until the broker had no more descriptors than before. Both times begin with the first connection.
    /// </summary>
    public int ClosedMilliseconds { get; set; }

    public int StillOpen { get; set; }

    public int DescriptorsBefore { get; set; }

    public int DescriptorsAllOpen { get; set; }

    public int ResidentMiBBefore { get; set; }

    public int ResidentMiBAllOpen { get; set; }

    /// <summary>As they go from process to process.</summary>
    public int[] Numbers =>
        [
            Connections,
            OpenedMilliseconds,
            ClosedMilliseconds,
            StillOpen,
            DescriptorsBefore,
            DescriptorsAllOpen,
            ResidentMiBBefore,
            ResidentMiBAllOpen,
        ];

    public static IdleAttackFigures Of(int[] numbers) =>
        new()
        {
            Connections = numbers[0],
            OpenedMilliseconds = numbers[1],
            ClosedMilliseconds = numbers[2],
            StillOpen = numbers[3],
            DescriptorsBefore = numbers[4],
            DescriptorsAllOpen = numbers[5],
            ResidentMiBBefore = numbers[6],
            ResidentMiBAllOpen = numbers[7],
        };
}
