using System.Text;
using LightQ.Protocol.Records;

namespace LightQ.Client.Filtering;

/// <summary>A parsed filter, before it becomes tests that name their successors.</summary>
internal abstract record FilterNode
{
    /// <summary>Appends its tests, last ones first.</summary>
    /// <returns>The test to begin with.</returns>
    public abstract int Emit(List<FilterTest> tests, int onTrue, int onFalse);

    /// <summary>A question about one header.</summary>
    public sealed record Test(FilterOperator Operator, string Name, string Value) : FilterNode
    {
        public override int Emit(List<FilterTest> tests, int onTrue, int onFalse)
        {
            tests.Add(
                new FilterTest(
                    Operator,
                    Encoding.UTF8.GetBytes(Name),
                    IdOf(Name),
                    Encoding.UTF8.GetBytes(Value),
                    onTrue,
                    onFalse
                )
            );
            return tests.Count - 1;
        }

        private static byte IdOf(string name)
        {
            for (byte id = 1; WellKnownHeader.NameOf(id) is { } known; id++)
            {
                if (known == name)
                    return id;
            }
            return 0;
        }
    }

    /// <summary>The contrary.</summary>
    public sealed record Not(FilterNode Inner) : FilterNode
    {
        public override int Emit(List<FilterTest> tests, int onTrue, int onFalse) => Inner.Emit(tests, onFalse, onTrue);
    }

    /// <summary>Both.</summary>
    public sealed record And(FilterNode Left, FilterNode Right) : FilterNode
    {
        public override int Emit(List<FilterTest> tests, int onTrue, int onFalse) =>
            Left.Emit(tests, Right.Emit(tests, onTrue, onFalse), onFalse);
    }

    /// <summary>One of them at least.</summary>
    public sealed record Or(FilterNode Left, FilterNode Right) : FilterNode
    {
        public override int Emit(List<FilterTest> tests, int onTrue, int onFalse) =>
            Left.Emit(tests, onTrue, Right.Emit(tests, onTrue, onFalse));
    }
}
