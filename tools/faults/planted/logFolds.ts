import type { Fault } from '../mutate.ts'

/** Slips in what is folded from a log for several readers. */
export const faults: readonly Fault[] = [
  {
    id: 'logFolds-1',
    file: 'src/log/callStage.ts',
    what: 'a call whose answer came after its process had died is said to run',
    from: "'again' in record && record.again",
    to: 'false as boolean',
    tests: ['log/callStage'],
  },
  {
    id: 'logFolds-2',
    file: 'src/log/callStage.ts',
    what: 'a call that a client carries out waits for nobody',
    from: " || stage === 'requested'",
    to: '',
    tests: ['log/callStage'],
  },
  {
    id: 'logFolds-3',
    file: 'packages/charts/src/workTimes.ts',
    what: 'a run waits for people while a client works on its call',
    from: "if (stage === 'requested') return",
    to: '',
    tests: ['log/callStage'],
  },
  {
    id: 'logFolds-4',
    file: 'src/log/fold.ts',
    what: 'a fork refuses a request because its source was asked the same',
    from: "isOwn === true && record.type === 'agent.created'",
    to: 'false as boolean',
    tests: ['log/fold'],
  },
  {
    id: 'logFolds-5',
    file: 'src/machines/contextFold.ts',
    what: 'what a policy cost is missing from the run of an agent that is restored',
    from: `    state.consulting = null
    spend(state, usage, costUsd)
`,
    to: `    state.consulting = null
    spend(state, usage)
`,
    tests: ['machines/policies'],
  },
  {
    id: 'logFolds-6',
    file: 'src/runtime/agents/agentHost.ts',
    what: 'what fails for one agent of a group is not told to the others',
    from: `  'tool.end'(host, record) {
    learn(host, record)
`,
    to: `  'tool.end'(host) {
`,
    tests: ['braking/lessons'],
  },
  {
    id: 'logFolds-7',
    file: 'src/machines/rebuildContext.ts',
    what: 'records change the state that a context was continued from',
    from: 'this.#state = { ...this.#state }',
    to: 'this.#state = this.#state',
    tests: ['machines', 'runtime/checkpoint'],
  },
]
