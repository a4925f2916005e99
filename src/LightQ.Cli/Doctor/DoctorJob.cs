using System.Text.Json;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Server;
using LightQ.Server.Diagnosis;
using Spectre.Console;

namespace LightQ.Cli.Doctor;

/// <summary>Looks at everything that a broker depends on, and says what is wrong and what to do.</summary>
/// <param name="options">The settings of a broker of this machine; null to look at none.</param>
/// <param name="broker">A broker that runs; null to look at none.</param>
/// <param name="output">What to write.</param>
internal sealed class DoctorJob(LightQServerOptions? options, LightQClientOptions? broker, OutputFormat output)
{
    /// <returns>
    /// The exit code: <see cref="ExitCode.Failed"/> or <see cref="ExitCode.Warnings"/> if something came out like that.
    /// </returns>
    public async Task<int> RunAsync()
    {
        List<Finding> findings = await FindAsync();
        var view = DoctorView.Of(findings);
        if (output == OutputFormat.Json)
            CommandConsole.Line(JsonSerializer.Serialize(view, DoctorJson.Default.DoctorView));
        else
            Write(view);
        return findings.Max(f => f.Result) switch
        {
            CheckResult.Failed => ExitCode.Failed,
            CheckResult.Warning => ExitCode.Warnings,
            _ => ExitCode.Ok,
        };
    }

    /// <summary>All findings.</summary>
    public async Task<List<Finding>> FindAsync()
    {
        List<Finding> findings = [];
        if (options is not null)
        {
            findings.AddRange(ServerDiagnosis.Examine(options));
            findings.AddRange(new SystemChecks().Run(options.DataPlane.MaxConnections));
            if (options.Cluster.Engine is not null)
                findings.AddRange(await new ClusterChecks(options.Cluster).RunAsync());
        }
        if (broker is not null)
        {
            await foreach (Finding finding in new BrokerChecks(broker).RunAsync())
                findings.Add(finding);
        }
        return findings;
    }

    private static void Write(DoctorView view)
    {
        Table table = CommandConsole.Table("check", "result", "found", "what to do");
        foreach (DoctorView.CheckView check in view.Checks)
        {
            string color = check.Result switch
            {
                "ok" => "green",
                "warning" => "yellow",
                _ => "red",
            };
            table.AddRow(
                Markup.Escape(check.Check),
                $"[{color}]{check.Result}[/]",
                Markup.Escape(check.Found),
                Markup.Escape(check.Fix ?? "")
            );
        }
        new CommandConsole().Tables.Write(table);
    }
}
