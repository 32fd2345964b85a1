import type { Fault } from '../mutate.ts'

/** Slips in models that stand for others. */
export const faults: readonly Fault[] = [
  {
    id: 'models-1',
    file: 'src/actors/streamReply.ts',
    what: 'what the first model had said is kept in front of what the second says',
    from: "partial = { key, text: '', thinking: '', estimatedTokens, ...answering }",
    to: 'partial = { ...partial, key, ...answering }',
    tests: ['journeys/fallsBack'],
  },
  {
    id: 'models-2',
    file: 'src/machines/runs.ts',
    what: 'falling back uses up the attempts of the retries',
    from: 'attempt - badAnswers - fallbacks',
    to: 'attempt - badAnswers - 0 * fallbacks',
    tests: ['machines/fallbacks', 'journeys/fallsBack'],
  },
  {
    id: 'models-3',
    file: 'src/actors/readReply.ts',
    what: 'a reply is said to be of the first model, whoever answered',
    from: 'this.#answering = model\n    if',
    to: 'if',
    tests: ['journeys/fallsBack'],
  },
  {
    id: 'models-4',
    file: 'src/actors/models/fallback.ts',
    what: 'the next model is asked after an abort',
    from: 'if (isDone || how.signal.aborted) return undefined',
    to: 'if (isDone) return undefined',
    tests: ['actors/fallback'],
  },
  {
    id: 'models-5',
    file: 'src/actors/pricing.ts',
    what: 'every model costs what the first does',
    from: 'Object.hasOwn(prices, answered) ? prices[answered]! : null',
    to: 'pricing',
    tests: ['journeys/fallsBack'],
  },
  {
    id: 'models-6',
    file: 'src/actors/models/fallback.ts',
    what: 'a bad key of the last model hides that the first may be asked again later',
    from: 'const kind = retried.has(error.kind) ? error.kind : later.at(-1)!.kind',
    to: 'const { kind } = error',
    tests: ['actors/fallback'],
  },
]
