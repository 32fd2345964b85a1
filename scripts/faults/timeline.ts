import type { Fault } from '../mutate.ts'

/** Slips in what the timeline and the time slider of the page say. */
export const faults: readonly Fault[] = [
  {
    id: 'timeline-1',
    file: 'src/inspector/model/eventGroups.ts',
    what: 'a run that failed is grey among the others, and no chip finds it',
    from: "event.stopReason === 'error' || event.reason",
    to: 'event.reason',
    tests: ['inspector/modelEvents'],
  },
  {
    id: 'timeline-2',
    file: 'src/inspector/model/eventRows.ts',
    what: 'the beginnings of two turns are one row',
    from: "turnOf(event) === turnOf(before.lead) && event.type !== 'turn.start'",
    to: 'turnOf(event) >= 0',
    tests: ['inspector/modelEvents'],
  },
  {
    id: 'timeline-3',
    file: 'src/inspector/model/eventErrors.ts',
    what: 'the key to the next failure stays at the one that is shown',
    from: 'errors[place + step]',
    to: 'errors[place]',
    tests: ['inspector/modelEvents'],
  },
  {
    id: 'timeline-4',
    file: 'src/charts/workTimes.ts',
    what: 'a run is said to have worked while it waited for a person',
    from: 'calls.length > 0 && calls.every(({ waits }) => waits)',
    to: 'false',
    tests: ['charts/workTimes'],
  },
  {
    id: 'timeline-5',
    file: 'src/charts/workTimes.ts',
    what: 'a clock that is put back takes time away',
    from: 'Math.max(0, time - (this.#last ?? time))',
    to: 'time - (this.#last ?? time)',
    tests: ['charts/workTimes'],
  },
]
