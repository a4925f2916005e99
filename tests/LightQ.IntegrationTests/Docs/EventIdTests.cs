using System.Globalization;
using System.Reflection;
using LightQ.Cli;
using LightQ.Server;
using Microsoft.Extensions.Logging;
using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>
/// Lines of the log are told apart by their numbers, and docs/operate/operations.md says which there are.
/// </summary>
public sealed class EventIdTests
{
    private static readonly LoggerMessageAttribute[] Messages =
    [
        .. new[] { typeof(LightQServer).Assembly, typeof(CommandLine).Assembly }
            .SelectMany(a => a.GetTypes())
            .SelectMany(t =>
                t.GetMethods(
                    BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly
                )
            )
            .Select(m => m.GetCustomAttribute<LoggerMessageAttribute>())
            .OfType<LoggerMessageAttribute>(),
    ];

    [Fact]
    public void Every_event_has_a_number_of_its_own_and_is_in_the_table_with_its_level()
    {
        Assert.True(Messages.Length > 25);
        Assert.Equal(Messages.Length, Messages.Select(m => m.EventId).Distinct().Count());
        string text = Document.Read("docs/operate/operations.md").Text;
        Assert.All(
            Messages,
            m =>
                Assert.Contains(
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"\n| {m.EventId} | {m.Level.ToString().ToLowerInvariant()} | "
                    ),
                    text,
                    StringComparison.Ordinal
                )
        );
    }
}
