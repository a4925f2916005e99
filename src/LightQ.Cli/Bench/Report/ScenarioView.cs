using System.Globalization;
using System.Text;
using LightQ.Bench;

namespace LightQ.Cli.Bench.Report;

/// <summary>
/// How one scenario's results are shown to people: its table, its plots, and what a reader must know.
/// </summary>
internal abstract class ScenarioView<TResult>
    where TResult : BenchResult
{
    protected const double BytesPerMiB = 1024 * 1024;

    /// <summary>What reports call the scenario.</summary>
    public abstract string Name { get; }

    /// <summary>
    /// What a reader who has never seen the project must know to read the page: what is measured, how, against
    /// what, and what it does not show.
    /// A paragraph each.
    /// </summary>
    public abstract IReadOnlyList<string> Notes { get; }

    /// <summary>The table on the terminal.</summary>
    public abstract ReportRows Table(IReadOnlyList<TResult> results);

    /// <summary>Adds plots and tables to the page.</summary>
    public abstract void AppendFigures(StringBuilder page, IReadOnlyList<TResult> results);

    /// <summary>What is wrong with results, besides lost, repeated, reordered and damaged messages.</summary>
    public virtual IEnumerable<string> Failures(IReadOnlyList<TResult> results) => [];

    protected static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
