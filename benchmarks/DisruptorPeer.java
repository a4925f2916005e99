import com.lmax.disruptor.BusySpinWaitStrategy;
import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.SequenceBarrier;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * A peer of "lightq bench inprocess --target ring" on the JVM: the LMAX Disruptor, one producer, two pinned threads that spin, 29 bytes at 10,000 a second. The schedule is JLBH's
 * with accountForCoordinatedOmission: message i is due at start + i / rate, whatever became of those before it, and its latency counts from then until the consumer has read and
 * checked it. See peer.sh.
 */
public final class DisruptorPeer {
    private static final int RING = 16 * 1024, WARM_UP_PARTS = 200;
    private static final long LATE = 20_000, HEAD_START = 50_000_000;

    private final RingBuffer<byte[]> ring;
    private final Sequence read = new Sequence();
    private final SequenceBarrier barrier;
    private final ByteBuffer[] entries = new ByteBuffer[RING];
    private final int size;
    private final byte[][] fillers = new byte[16][];
    private final long[] latencies;

    private DisruptorPeer(int size, int messages) {
        this.size = size;
        latencies = new long[messages];
        ring = RingBuffer.createSingleProducer(() -> new byte[size], RING, new BusySpinWaitStrategy());
        ring.addGatingSequences(read);
        read.set(ring.getCursor());
        barrier = ring.newBarrier();
        for (int i = 0; i < RING; i++)
            entries[i] = ByteBuffer.wrap(ring.get(i)).order(ByteOrder.LITTLE_ENDIAN);
        for (int f = 0; f < fillers.length; f++) {
            fillers[f] = new byte[size];
            for (int at = 16; at < size; at++)
                fillers[f][at] = (byte) (at * 31 + f * 17);
        }
    }

    public static void main(String[] arguments) throws Exception {
        int messages = Integer.parseInt(arguments[0]), runs = Integer.parseInt(arguments[1]);
        double rate = Double.parseDouble(arguments[2]);
        String[] cpus = arguments[3].split(",");
        DisruptorPeer peer = new DisruptorPeer(29, messages);
        for (int part = 0; part < WARM_UP_PARTS; part++) // As many messages as fast as they go as ours has, then a second on the schedule.
            peer.run(100_000 / WARM_UP_PARTS, Double.POSITIVE_INFINITY, cpus);
        peer.run((int) Math.min(messages, rate), rate, cpus);
        for (int run = 1; run <= runs; run++) {
            System.gc();
            Thread.sleep(250);
            peer.run(messages, rate, cpus);
            peer.print(run, messages);
        }
    }

    private void run(int messages, double rate, String[] cpus) throws Exception {
        boolean paced = !Double.isInfinite(rate);
        Thread consumer = new Thread(() -> receive(messages), "consumer"), producer = new Thread(() -> send(messages, rate), "producer");
        consumer.start();
        producer.start();
        if (paced) { // Within the head start.
            pin("consumer", cpus[1]);
            pin("producer", cpus[0]);
        }
        producer.join();
        consumer.join();
    }

    private void send(int messages, double rate) {
        double interval = 1e9 / rate;
        long start = System.nanoTime() + (Double.isInfinite(rate) ? 0 : HEAD_START);
        for (int i = 0; i < messages; i++) {
            long due = start + (long) (i * interval);
            while (System.nanoTime() - due < 0) {
                // It has a processor to itself.
            }
            long at = ring.next();
            ByteBuffer entry = entries[(int) (at & (RING - 1))];
            entry.putLong(0, i);
            entry.putLong(8, due);
            entry.position(16);
            entry.put(fillers[i & 15], 16, size - 16);
            ring.publish(at);
        }
    }

    private void receive(int messages) {
        long next = read.get() + 1;
        for (int i = 0; i < messages;) {
            long available = barrier.getCursor();
            if (available < next)
                continue;
            for (; next <= available; next++, i++) {
                ByteBuffer entry = entries[(int) (next & (RING - 1))];
                if (entry.getLong(0) != i || !java.util.Arrays.equals(entry.array(), 16, size, fillers[i & 15], 16, size))
                    throw new IllegalStateException("Message " + i + " is not what was sent.");
                latencies[i] = System.nanoTime() - entry.getLong(8);
            }
            read.set(available);
        }
    }

    private void print(int run, int messages) {
        long[] sorted = java.util.Arrays.copyOf(latencies, messages);
        java.util.Arrays.sort(sorted);
        long late = java.util.Arrays.stream(sorted).filter(value -> value >= LATE).count();
        System.out.printf(Locale.ROOT, "disruptor run %d: p50 %.3f us, p99 %.3f us, p99.9 %.3f us, max %.1f us, later than 20 us %.2f %%%n",
            run, at(sorted, 50), at(sorted, 99), at(sorted, 99.9), sorted[messages - 1] / 1e3, 100.0 * late / messages);
    }

    private static double at(long[] sorted, double percent) {
        return sorted[Math.max(0, (int) Math.ceil(percent / 100 * sorted.length) - 1)] / 1e3;
    }

    /** Keeps a thread of this process on a CPU, with util-linux' taskset: the JVM has no call for it. */
    private static void pin(String thread, String cpu) throws Exception {
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path task : tasks) {
                String name;
                try {
                    name = Files.readString(task.resolve("comm")).strip();
                } catch (IOException gone) {
                    continue; // A thread that has ended meanwhile.
                }
                if (name.equals(thread))
                    new ProcessBuilder("taskset", "-pc", cpu, task.getFileName().toString()).redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor();
            }
        }
    }
}
