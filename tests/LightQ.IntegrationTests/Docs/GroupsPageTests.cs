using LightQ.Client;
using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>What a newcomer must not overlook of groups stands where it is read first.</summary>
public sealed class GroupsPageTests
{
    [Fact]
    public void The_first_sentence_says_that_the_default_loses_messages()
    {
        Assert.Equal(SettleMode.Automatic, new ConsumeOptions().SettleMode);
        string text = Document.Read("docs/use/groups.md").Text;
        string first = text[(text.IndexOf("\n\n", StringComparison.Ordinal) + 2)..].Replace('\n', ' ').Split(". ")[0];
        Assert.Equal(
            "By default (`SettleMode.Automatic`) a group loses messages when a member dies: those that the member had "
                + "received and not worked on yet",
            first
        );
    }

    [Fact]
    public void So_does_the_documentation_of_the_setting() =>
        Assert.Contains(
            "loses messages when a member of a group dies.\n/// </summary>",
            SourceTree.Read("src/LightQ.Protocol/Client/SettleMode.cs"),
            StringComparison.Ordinal
        );
}
