import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'asking-1',
    file: 'src/actors/asking.ts',
    what: 'the time limit of a tool runs on while it waits for an answer',
    from: '    this.#call.paused()\n',
    to: '',
    tests: ['journeys/asksPeople'],
  },
  {
    id: 'asking-2',
    file: 'src/actors/asking.ts',
    what: 'a call that runs again is asked everything again',
    from: 'const logged = this.#input.answers?.[this.#answered]',
    to: 'const logged = undefined as Answer | undefined',
    tests: ['journeys/resumesQuestions'],
  },
  {
    id: 'asking-3',
    file: 'src/actors/asking.ts',
    what: 'the answer to one question is taken for another',
    from: 'if (logged !== undefined) this.#checkSame(logged, text)',
    to: '',
    tests: ['journeys/resumesQuestions'],
  },
  {
    id: 'asking-4',
    file: 'src/actors/asking.ts',
    what: 'a tool goes on with an answer that is not in the log',
    from: 'await this.#ports.durable()?.catch(',
    to: 'await Promise.resolve().catch(',
    tests: ['journeys/resumesQuestions'],
  },
  {
    id: 'asking-5',
    file: 'src/machines/decisions.ts',
    what: 'after a crash the answer to a question goes to nobody',
    from: `status: status === 'asked' ? 'ready' : 'running',`,
    to: `status: 'running',`,
    tests: ['journeys/resumesQuestions'],
  },
  {
    id: 'asking-6',
    file: 'src/machines/rebuildContext.ts',
    what: 'a call whose answer was given is run again, whatever it did since',
    from: `const status = again === true ? 'ready' : 'running'`,
    to: `const status = 'ready'`,
    tests: ['journeys/resumesQuestions'],
  },
  {
    id: 'asking-7',
    file: 'src/runtime/agents/decide.ts',
    what: 'an answer that does not fit is taken',
    from: 'return wrong === undefined ? { decision, value } : refuse(',
    to: 'return wrong !== null ? { decision, value } : refuse(',
    tests: ['journeys/asksPeople'],
  },
  {
    id: 'asking-8',
    file: 'src/runtime/agents/decide.ts',
    what: 'two answers at once are both taken for good',
    from: '  owner.answers.decided(pending.key)\n',
    to: '',
    tests: ['journeys/asksPeople'],
  },
  {
    id: 'asking-9',
    file: 'src/machines/decisions.ts',
    what: 'an edited call runs with the arguments of the model',
    from: `draft.setCall(index, { status: 'ready', ...input,`,
    to: `draft.setCall(index, { status: 'ready',`,
    tests: ['journeys/editsACall'],
  },
  {
    id: 'asking-10',
    file: 'src/machines/rebuildContext.ts',
    what: 'after a crash an edited call runs with the arguments of the model',
    from: "const edit = input === undefined ? {} : ({ input, edited: 'person' } as const)",
    to: "const edit = input === undefined ? {} : ({ edited: 'person' } as const)",
    tests: ['journeys/editsACall'],
  },
  {
    id: 'asking-11',
    file: 'src/runtime/agents/restoreInput.ts',
    what: 'a call for a client is given up after a crash',
    from: ` || external === true`,
    to: '',
    tests: ['journeys/letsClientsCall'],
  },
  {
    id: 'asking-12',
    file: 'src/machines/states/paused.ts',
    what: 'a tool that does not wait for its answer never ends',
    from: `    'xstate.done.actor.call.*': [
      {
        guard: 'pausedByApprovals',`,
    to: `    'xstate.done.actor.call.*': [
      {
        guard: 'isEnding',`,
    tests: ['journeys/asksPeople'],
  },
]
