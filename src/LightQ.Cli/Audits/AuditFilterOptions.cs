using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Server.Audit;

namespace LightQ.Cli.Audits;

/// <summary>The options that choose lines of an audit log.</summary>
internal static class AuditFilterOptions
{
    public static Option<string?> Event() =>
        new("--event")
        {
            Description =
                "Only events of that name, such as login-refused or right-granted; the beginning of one will do.",
            HelpName = "EVENT",
            CustomParser = result =>
            {
                string text = result.Tokens[0].Value;
                return ValueOptions.Parsed<string?>(
                    result,
                    AuditLine.Events.Any(e => e.StartsWith(text, StringComparison.Ordinal)),
                    text,
                    $"'{text}' is not one of {string.Join(", ", AuditLine.Events)}."
                );
            },
        };

    public static Option<string?> Actor() =>
        new("--actor")
        {
            Description =
                "Only what that principal did: user:alice, topic-user:orders/alice, admin, anonymous, broker.",
            HelpName = "PRINCIPAL",
        };

    public static Option<string?> Subject() =>
        new("--subject")
        {
            Description = "Only what was done to that user, topic or group (TOPIC/GROUP).",
            HelpName = "NAME",
        };

    public static Option<TimeSpan?> Last()
    {
        Option<TimeSpan?> last = ValueOptions.Duration("--last");
        last.Description = "Only what happened within this time until now.";
        return last;
    }
}
