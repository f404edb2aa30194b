package rsa_speed_test;

/** A stopwatch that adds up: how long something took in the mean of several times. */
public final class Time_measurement {
    private long began;
    private long elapsedNs;
    private int times;

    /** Begins to measure. */
    public void start() {
        began = System.nanoTime();
    }

    /** Ends what {@link #start} began. */
    public void stop() {
        elapsedNs += System.nanoTime() - began;
        times++;
    }

    /** The mean in milliseconds; not a number before the first time. */
    public double averageMs() {
        return elapsedNs / 1e6 / times;
    }
}
