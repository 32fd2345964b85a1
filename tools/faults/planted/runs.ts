import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'runs-1',
    file: 'src/actors/turn/streamReply.ts',
    what: 'a reply that ends for tools without calling any is no answer, and is not checked',
    from: "(reply.stopReason === 'stop' || reply.stopReason === 'toolUse')",
    to: "reply.stopReason === 'stop'",
    tests: ['runs/runResult'],
  },
  {
    id: 'runs-2',
    file: 'src/actors/turn/streamReply.ts',
    what: 'an answer is checked as it was said, and not as it is kept',
    from: 'said.ok && shown !== text ? readAnswer',
    to: 'said.ok && false ? readAnswer',
    tests: ['runs/runResult'],
  },
  {
    id: 'runs-3',
    file: 'src/protocol/runs/run.ts',
    what: 'a run that could not be stored is paused for no reason',
    from: "reason: reason ?? { type: 'store', error }",
    to: 'reason: reason!',
    tests: ['runs/runResult'],
  },
  {
    id: 'runs-4',
    file: 'packages/bridge/src/client/remoteRuns.ts',
    what: 'a client takes what happens to be JSON for data',
    from: 'this.#said.isAnswer ? readJson',
    to: "this.#said.text !== '' ? readJson",
    tests: ['packages/bridge/test/server/typedAnswers'],
  },
  {
    id: 'runs-5',
    file: 'packages/bridge/src/client/remoteRuns.ts',
    what: 'a client does not check answers by its own schema',
    from: 'read?.ok === false',
    to: 'false as boolean',
    tests: ['packages/bridge/test/server/typedAnswers'],
  },
  {
    id: 'runs-6',
    file: 'src/machines/runs.ts',
    what: 'a run that goes on is not held to what its prompt gave',
    from: '...(request.limits ?? given)',
    to: '...request.limits',
    tests: ['journeys/pausesAtALimit', 'machines/restored'],
  },
  {
    id: 'runs-7',
    file: 'src/machines/contextFold.ts',
    what: 'what a prompt gave of limits is forgotten with its process',
    from: 'goesOn(stopReason, owesReply) ? (run?.given ?? null) : null',
    to: 'null',
    tests: ['journeys/pausesAtALimit'],
  },
  {
    id: 'runs-8',
    file: 'src/machines/contextFold.ts',
    what: 'a second restart yields a fresh allowance',
    from: `state.pausedLimits = left
`,
    to: `state.pausedLimits = null
`,
    tests: ['machines/restored'],
  },
]
