import type { Fault } from '../mutate.ts'

const onDemand = ['packages/page/test/inspector/agent/requestsOnDemand']

/** Slips in how the page reads a log, and what it draws of it. */
export const faults: readonly Fault[] = [
  {
    id: 'demand-1',
    file: 'packages/page/src/inspector/model/agent/followedAgent.ts',
    what: 'a log is read with all that captured requests say',
    from: '{ fromSeq: 1, requests, captured: false, onCaughtUp, onEnd }',
    to: '{ fromSeq: 1, requests, captured: true, onCaughtUp, onEnd }',
    tests: onDemand,
  },
  {
    id: 'demand-2',
    file: 'packages/page/src/inspector/model/agent/eventList.ts',
    what: 'a captured request that was read still counts as one that was not',
    from: '  delete (record as { left?: number }).left',
    to: '  void record',
    tests: onDemand,
  },
  {
    id: 'demand-3',
    file: 'packages/page/src/inspector/model/agent/followedAgent.ts',
    what: 'the log of an agent that has stopped is never there',
    from: '      if (error === undefined) onCaughtUp()\n      else if (log === this.#log)',
    to: '      if (error !== undefined && log === this.#log)',
    tests: onDemand,
  },
  {
    id: 'demand-4',
    file: 'packages/bridge/src/server/feed.ts',
    what: 'a captured request that comes live is sent in full',
    from: "if (!captured && this.#event.type === 'turn.captured') return loggedFrame(this.#event, view, false)",
    to: '',
    tests: ['packages/bridge/test/server/subscription'],
  },
  {
    id: 'demand-5',
    file: 'packages/bridge/src/page/compressed.ts',
    what: 'scripts are never compressed better',
    from: "if (known !== undefined && encoding === 'br') improving ??= improve()",
    to: '',
    tests: ['packages/bridge/test/page/servePage'],
  },
  {
    id: 'demand-6',
    file: 'packages/page/src/inspector/model/charts/actorBars.ts',
    what: 'an agent that has ended seems to work on',
    from: '    if (ended !== undefined) active.delete(ended)',
    to: '',
    tests: ['packages/page/test/inspector/charts/actorBars'],
  },
  {
    id: 'demand-7',
    file: 'src/protocol/text/cutMiddle.ts',
    what: 'a line ends where the part ended that was read of its text',
    from: 'if (part === text || line.length > maxChars) return',
    to: 'if (line.length <= maxChars || part === text) return',
    tests: ['test/protocol/oneLine'],
  },
]
