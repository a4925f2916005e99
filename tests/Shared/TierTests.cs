using System.Reflection;
using Xunit;

namespace LightQ.Tests.Shared;

/// <summary>What a plain <c>dotnet test</c> leaves out. It says so here, once for all.</summary>
public sealed class TierTests
{
    [Fact]
    [Trait("Tier", "C")]
    public void The_tests_of_the_heavier_tiers_are_not_in_a_plain_run()
    {
        MethodInfo[] left =
        [
            .. typeof(TierTests)
                .Assembly.GetTypes()
                .SelectMany(t => t.GetMethods(BindingFlags.Instance | BindingFlags.Public))
                .Where(m => Traits(m, "Plain").Any()),
        ];
        Assert.SkipUnless(
            FaultRun.Tier is "C" or "N",
            $"Left out of a plain run: {left.Length}. With the gate's: LIGHTQ_TIER=C dotnet test -c Release "
                + $"--filter-trait Tier=C. The long ones: CONTRIBUTING.md, Tiers."
        );

        // One that a plain run leaves out and no tier has would never run.
        Assert.NotEmpty(left);
        Assert.Empty(
            left.Where(m => !Traits(m, "Tier").Concat(Traits(m.DeclaringType!, "Tier")).Any(tier => tier is "C" or "N"))
                .Select(m => $"{m.DeclaringType!.Name}.{m.Name}")
        );
    }

    private static IEnumerable<string> Traits(MemberInfo member, string name) =>
        member.GetCustomAttributes<TraitAttribute>().Where(t => t.Name == name).Select(t => t.Value);
}
