using LightQ.Client;
using LightQ.Client.Hosting;
using Microsoft.Extensions.Configuration;
using Xunit;

namespace LightQ.Tests.Client.Hosting;

/// <summary>A processor's options from an application's configuration, and its rules for failures.</summary>
public sealed class ProcessorConfigurationTests
{
    [Fact]
    public void Keys_are_named_like_the_options_and_change_what_the_code_says()
    {
        ProcessorOptions options = Read(
            new ProcessorOptions { MaxInFlight = 7, MaxConcurrency = 2 },
            ("P:maxconcurrency", "8"),
            ("P:MaxInFlight", ""),
            ("P:AutoComplete", "false"),
            ("P:MaxLockRenewal", "00:10:00"),
            ("P:LockDuration", "00:00:30"),
            ("P:DrainTimeout", "00:00:05"),
            ("P:Ordering", "key"),
            ("P:Start", "latest")
        );
        Assert.Equal((8, 7, false), (options.MaxConcurrency, options.MaxInFlight, options.AutoComplete));
        Assert.Equal(TimeSpan.FromMinutes(10), options.MaxLockRenewal);
        Assert.Equal(TimeSpan.FromSeconds(30), options.LockDuration);
        Assert.Equal(TimeSpan.FromSeconds(5), options.DrainTimeout);
        Assert.Equal((ProcessingOrder.Key, StartPosition.Latest), (options.Ordering, options.Start));
        Assert.Equal(new ProcessorOptions().MaxConcurrency, Read(new ProcessorOptions()).MaxConcurrency);
    }

    [Fact]
    public void Each_option_is_a_key_but_for_what_only_code_can_say()
    {
        foreach (string name in typeof(ProcessorOptions).GetProperties().Select(p => p.Name))
        {
            if (name is nameof(ProcessorOptions.Filter) or nameof(ProcessorOptions.Retries))
                continue;
            string known = Assert.Throws<ArgumentException>(() => Read(new(), ("P:x", "1"))).Message;
            Assert.Contains(name, known, StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData("P:MaxConcurency", "8", "'P:MaxConcurency' is no setting of a processor")]
    [InlineData("P:MaxConcurrency", "many", "'P:MaxConcurrency' is 'many': A whole number is wanted.")]
    [InlineData("P:MaxConcurrency", "0", "'P:MaxConcurrency' is '0': ")]
    [InlineData("P:DrainTimeout", "5", "'P:DrainTimeout' is '5': A time like 00:00:05")]
    [InlineData("P:Ordering", "always", "'P:Ordering' is 'always': One of ")]
    [InlineData("P:Start", "5", "'P:Start' is '5': One of Earliest")]
    [InlineData("P", "8", "'P' is a value; a section is wanted")]
    public void What_is_wrong_is_named(string key, string value, string says) =>
        Assert.StartsWith(
            says,
            Assert.Throws<ArgumentException>(() => Read(new(), (key, value))).Message,
            StringComparison.Ordinal
        );

    [Fact]
    public void The_first_rule_that_fits_an_exception_counts_also_for_what_derives_from_it()
    {
        RetryRule[] rules =
        [
            RetryRule.After<FileNotFoundException>(TimeSpan.FromSeconds(5)),
            RetryRule.DeadLetter<IOException>(),
            RetryRule.After<TimeoutException>(TimeSpan.Zero),
        ];
        Assert.Same(rules[0], RetryRule.Find(rules, new FileNotFoundException()));
        Assert.Same(rules[1], RetryRule.Find(rules, new EndOfStreamException()));
        Assert.Same(rules[2], RetryRule.Find(rules, new AggregateException(new TimeoutException())));
        Assert.Null(RetryRule.Find(rules, new AggregateException(new TimeoutException(), new IOException())));
        Assert.Null(RetryRule.Find(rules, new FormatException()));
        Assert.Throws<ArgumentOutOfRangeException>(() => RetryRule.After<IOException>(TimeSpan.FromDays(50)));
    }

    private static ProcessorOptions Read(ProcessorOptions options, params (string Key, string Value)[] values) =>
        ProcessorSection.Read(
            new ConfigurationBuilder()
                .AddInMemoryCollection(values.Select(v => KeyValuePair.Create(v.Key, (string?)v.Value)))
                .Build()
                .GetSection("P"),
            options
        );
}
