import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.nfa.aftermatch.AfterMatchSkipStrategy;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.conditions.SimpleCondition;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.Collector;

/**
 * Flink CEP beside Penstock: one thread, event time, keyed by k, from arrays in memory.
 *
 * <p>Arguments: the folder with the columns (`type.bin`: a byte for each event, `k.bin` and `time.bin`: 64-bit
 * integers, little-endian), how many rounds, and queries, each as NAME=SHAPE:TYPES:WINDOW, in microseconds. Each
 * round of a query prints two lines, as NAME where the pattern meets all events, and as NAME/filtered where those whose
 * type it does not name are taken out by hand before they are shared out by key: seconds on the clock and on processors,
 * matches, checksum. `read` is a round without any pattern: what it takes is what all others spend on making events, too.
 */
public class CepBenchmark {
    /** What a job reads. It runs in this process, so that arrays need not travel. */
    static byte[] types;
    static long[] keys;
    static long[] times;

    /** What a job finds: CEP has no accumulators, and one thread needs none. */
    static volatile long found;
    static volatile long checksum;

    /** One event; a plain class with public fields, which Flink serialises without reflection. */
    public static class Event {
        public long id;
        public byte type;
        public long k;
        public long time;

        public Event() {}

        Event(long id) {
            int row = (int) id;
            this.id = id;
            this.type = types[row];
            this.k = keys[row];
            this.time = times[row];
        }
    }

    /** Ids and stamps of what was matched, in the order of matching: the columns that all ways give. */
    public static class Match {
        public long[] ids;
        public long[] stamps;

        public Match() {}
    }

    static SimpleCondition<Event> is(char type) {
        byte code = (byte) (type - 'A');
        return SimpleCondition.of(event -> event.type == code);
    }

    /** Every start takes the first thing that fits, and every start counts: `followedBy`, and nothing is skipped. */
    static Pattern<Event, ?> pattern(String shape, String types, long window) {
        Pattern<Event, Event> pattern =
                Pattern.<Event>begin(name(0), AfterMatchSkipStrategy.noSkip()).where(is(types.charAt(0)));
        for (int i = 1; i < types.length(); i++) {
            boolean absent = shape.equals("absence") && i == types.length() - 1;
            pattern = absent ? pattern.notFollowedBy(name(i)) : pattern.followedBy(name(i));
            pattern = pattern.where(is(types.charAt(i)));
            if (shape.equals("repetition") && i == 1) {
                // Without `until` a run would also let the next type pass by and go on repeating.
                pattern = pattern.oneOrMore().greedy().until(is(types.charAt(2)));
            }
        }
        // A window of Flink's ends before its last instant, and one of ours with it.
        return pattern.within(Duration.ofMillis(window + 1));
    }

    static String name(int place) {
        return "p" + place;
    }

    /** Takes the parts of a match in order, and counts. */
    static class Take extends PatternProcessFunction<Event, Match> {
        private final int places;
        private final long lastStart;

        Take(int places, long lastStart) {
            this.places = places;
            this.lastStart = lastStart;
        }

        @Override
        public void processMatch(Map<String, List<Event>> match, Context context, Collector<Match> out) {
            Event first = match.get(name(0)).get(0);
            if (first.time > lastStart) { // its timer is after the end of the input
                return;
            }
            int size = 0;
            for (List<Event> events : match.values()) {
                size += events.size();
            }
            Match taken = new Match();
            taken.ids = new long[size];
            taken.stamps = new long[size];
            int at = 0;
            long sum = 0;
            for (int place = 0; place < places; place++) {
                List<Event> events = match.get(name(place));
                if (events == null) {
                    continue;
                }
                for (Event event : events) {
                    taken.ids[at] = event.id;
                    taken.stamps[at] = event.time;
                    sum += mixed(first.id, event.id, event.time, at);
                    at++;
                }
            }
            found++;
            checksum += sum;
            out.collect(taken);
        }
    }

    /** The same as `mixed` of penstock.bench.matches. */
    static long mixed(long first, long id, long time, long place) {
        long z = first * 0x9E3779B97F4A7C15L + id * 0xBF58476D1CE4E5B9L + time * 0x94D049BB133111EBL + place;
        z = (z ^ (z >>> 31)) * 0x9E3779B97F4A7C15L;
        return z ^ (z >>> 29);
    }

    static StreamExecutionEnvironment environment() {
        StreamExecutionEnvironment environment = StreamExecutionEnvironment.createLocalEnvironment(1);
        environment.getConfig().enableObjectReuse();
        return environment;
    }

    static DataStream<Event> events(StreamExecutionEnvironment environment) {
        return environment
                .fromSequence(0, types.length - 1)
                .map(Event::new)
                .returns(Event.class)
                .assignTimestampsAndWatermarks(
                        WatermarkStrategy.<Event>forMonotonousTimestamps().withTimestampAssigner((event, at) -> event.time));
    }

    static void read() throws Exception {
        StreamExecutionEnvironment environment = environment();
        found = 0;
        checksum = 0;
        events(environment).sinkTo(new DiscardingSink<>());
        say("read", environment);
    }

    static void run(String name, String shape, String letters, long window, boolean filtered) throws Exception {
        boolean absence = shape.equals("absence");
        long lastStart = absence ? times[times.length - 1] - window : Long.MAX_VALUE;
        StreamExecutionEnvironment environment = environment();
        found = 0;
        checksum = 0;
        DataStream<Event> events = events(environment);
        if (filtered) {
            events = events.filter(event -> letters.indexOf('A' + event.type) >= 0);
        }
        CEP.pattern(events.keyBy(event -> event.k), pattern(shape, letters, window))
                .process(new Take(letters.length(), lastStart))
                .sinkTo(new DiscardingSink<>());
        say(filtered ? name + "/filtered" : name, environment);
    }

    static void say(String name, StreamExecutionEnvironment environment) throws Exception {
        double before = busy();
        double seconds = environment.execute().getNetRuntime() / 1e3;
        String sum = Long.toUnsignedString(checksum);
        System.out.printf(Locale.ROOT, "%s %.3f %.3f %d %s%n", name, seconds, busy() - before, found, sum);
    }

    /** Seconds that all threads of this process have spent on processors. */
    static double busy() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1e9;
    }

    static long[] longs(Path path) throws Exception {
        byte[] bytes = Files.readAllBytes(path);
        long[] values = new long[bytes.length / 8];
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(values);
        return values;
    }

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        types = Files.readAllBytes(folder.resolve("type.bin"));
        keys = longs(folder.resolve("k.bin"));
        times = longs(folder.resolve("time.bin"));
        for (int round = 0; round < Integer.parseInt(arguments[1]); round++) {
            read();
            for (int i = 2; i < arguments.length; i++) {
                String[] query = arguments[i].split("=");
                String[] said = query[1].split(":");
                for (boolean filtered : new boolean[] {false, true}) {
                    run(query[0], said[0], said[1], Long.parseLong(said[2]), filtered);
                }
            }
        }
    }
}
