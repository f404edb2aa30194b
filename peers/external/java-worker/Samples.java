package rsalab.worker;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** Samples within a limit that is kept by merging neighbours, so that every call is counted. */
final class Samples {
    private final List<Sample> samples = new ArrayList<>();
    private final int most;
    /** Calls that make up one sample. */
    private long each = 1;
    private long inLast;

    /** What a call took, and what it did. */
    record Sample(long elapsedNs, long operations) {
        private Sample and(Sample other) {
            return new Sample(elapsedNs + other.elapsedNs, operations + other.operations);
        }
    }

    Samples(int most) {
        this.most = most;
    }

    void push(Sample sample) {
        int last = samples.size() - 1;
        if (inLast < each && last >= 0) {
            samples.set(last, samples.get(last).and(sample));
            inLast++;
        } else if (samples.size() == most) {
            halve();
            push(sample);
        } else {
            samples.add(sample);
            inLast = 1;
        }
    }

    private void halve() {
        boolean odd = samples.size() % 2 == 1;
        List<Sample> halved = new ArrayList<>();
        for (int i = 0; i < samples.size(); i += 2) {
            Sample one = samples.get(i);
            halved.add(i + 1 < samples.size() ? one.and(samples.get(i + 1)) : one);
        }
        samples.clear();
        samples.addAll(halved);
        inLast = odd ? each : 2 * each;
        each *= 2;
    }

    JsonArray json() {
        JsonArray json = new JsonArray();
        for (Sample sample : samples) {
            JsonObject one = new JsonObject();
            one.addProperty("elapsed_ns", sample.elapsedNs());
            one.add("tsc_ticks", JsonNull.INSTANCE);
            one.addProperty("operations", sample.operations());
            json.add(one);
        }
        return json;
    }
}
