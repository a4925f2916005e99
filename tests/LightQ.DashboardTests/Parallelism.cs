using Xunit.Sdk;
using Xunit.v3;

// A test waits for the broker's next figures about as long as it computes: two at a time fill a small machine.
[assembly: Parallelization(Mode = ParallelMode.All, MaxThreads = 2)]
