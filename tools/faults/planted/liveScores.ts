import type { Fault } from '../mutate.ts'

/** Slips in the scores of runs in production. */
export const faults: readonly Fault[] = [
  {
    id: 'live-scores-1',
    file: 'packages/evaluation/src/live/liveScores.ts',
    what: 'runs that ended before a crash are never scored',
    from: 'if (isEnd(record) && record.time >= since',
    to: 'if (isEnd(record) && record.time < since',
    tests: ['packages/evaluation/test/live'],
  },
  {
    id: 'live-scores-2',
    file: 'packages/evaluation/src/live/liveScores.ts',
    what: 'a run is scored again after a restart',
    from: "if (before !== undefined && before !== 'open') return",
    to: "if (before === 'given up') return",
    tests: ['packages/evaluation/test/live'],
  },
  {
    id: 'live-scores-3',
    file: 'packages/evaluation/src/live/liveScores.ts',
    what: 'a budget counts from the start of the process',
    from: 'this.#spent = { day, usd: costUsd }',
    to: 'this.#spent = { day, usd: costUsd - costUsd }',
    tests: ['packages/evaluation/test/live'],
  },
  {
    id: 'live-scores-4',
    file: 'packages/evaluation/src/live/liveScores.ts',
    what: 'runs of sub-agents are scored too',
    from: 'path.length > 0 || ',
    to: '',
    tests: ['packages/evaluation/test/live'],
  },
  {
    id: 'live-scores-5',
    file: 'packages/evaluation/src/live/sampled.ts',
    what: 'which runs are scored is left to chance',
    from: 'digest(run.agentId, run.runId).readUInt32BE(0) / 2 ** 32 < share',
    to: 'Math.random() < share',
    tests: ['packages/evaluation/test/live'],
  },
]
