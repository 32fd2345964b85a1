import type {
  Attributes,
  BatchObservableResult,
  Counter,
  Histogram,
  Meter,
  Observable,
  UpDownCounter,
} from '@opentelemetry/api'
import { metricTable, type MetricName, type MetricOf, type MetricShape } from './metricTable.ts'

type Adding = MetricOf<'counter' | 'upDown'>
type Observed = MetricOf<'observedGauge' | 'observedCounter'>

/** Reports a value of an instrument, once for each set of attributes. */
export type Report = (name: Observed, value: number, attributes?: Attributes) => void

/** The instruments of the table on a meter, each made at its first use. */
export class Instruments {
  readonly #meter: Meter
  readonly #attributes: Attributes
  readonly #histograms = new Map<MetricName, Histogram>()
  readonly #counters = new Map<MetricName, Counter | UpDownCounter>()

  constructor(meter: Meter, attributes: Attributes) {
    this.#meter = meter
    this.#attributes = attributes
  }

  add(name: Adding, value: number, attributes: Attributes = {}): void {
    let counter = this.#counters.get(name)
    if (counter === undefined) {
      const { kind, options } = shapeOf(name)
      counter =
        kind === 'counter' ? this.#meter.createCounter(name, options) : this.#meter.createUpDownCounter(name, options)
      this.#counters.set(name, counter)
    }
    counter.add(value, { ...this.#attributes, ...attributes })
  }

  record(name: MetricOf<'histogram'>, value: number, attributes: Attributes = {}): void {
    let histogram = this.#histograms.get(name)
    if (histogram === undefined) {
      histogram = this.#meter.createHistogram(name, shapeOf(name).options)
      this.#histograms.set(name, histogram)
    }
    histogram.record(value, { ...this.#attributes, ...attributes })
  }

  /** Registers a callback that reads these instruments together at each collection. Returns a function that removes it. */
  observe(names: readonly Observed[], read: (report: Report) => void): () => void {
    const made = new Map<Observed, Observable>(
      names.map((name): [Observed, Observable] => {
        const { kind, options } = shapeOf(name)
        return kind === 'observedGauge'
          ? [name, this.#meter.createObservableGauge(name, options)]
          : [name, this.#meter.createObservableCounter(name, options)]
      }),
    )
    const callback = (result: BatchObservableResult): void =>
      read((name, value, attributes = {}) => {
        const instrument = made.get(name)
        if (instrument !== undefined) result.observe(instrument, value, { ...this.#attributes, ...attributes })
      })
    const all = [...made.values()]
    this.#meter.addBatchObservableCallback(callback, all)
    return () => this.#meter.removeBatchObservableCallback(callback, all)
  }
}

function shapeOf(name: MetricName) {
  const { kind, unit, about: description, buckets }: MetricShape = metricTable[name]
  const advice = buckets === undefined ? {} : { advice: { explicitBucketBoundaries: [...buckets] } }
  return { kind, options: { unit, description, ...advice } }
}
