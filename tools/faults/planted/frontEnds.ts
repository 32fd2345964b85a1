import type { Fault } from '../mutate.ts'

/** Slips in what front ends of others are answered. */
export const faults: readonly Fault[] = [
  {
    id: 'front-ends-1',
    file: 'packages/ag-ui/src/openRun.ts',
    what: 'an answer under the runId of the run that asked only shows that run',
    from: 'if (known !== undefined && !isAnswer(thread, input)) return known',
    to: 'if (known !== undefined) return known',
    tests: ['packages/ag-ui/test/copilotKit.test'],
  },
  {
    id: 'front-ends-2',
    file: 'packages/ag-ui/src/threadState.ts',
    what: 'a page that was loaded anew undoes the state of its thread',
    from: 'Object.keys(value).length === 0 || !isCurrent()',
    to: 'Object.keys(value).length === 0',
    tests: ['packages/ag-ui/test/copilotKit.test'],
  },
  {
    id: 'front-ends-3',
    file: 'packages/ag-ui/src/agUiRun.ts',
    what: 'a run is aborted although others follow it',
    from: 'if (this.#isLook || this.#ending !== undefined || isSeen) return',
    to: 'if (this.#isLook || this.#ending !== undefined) return',
    tests: ['packages/ag-ui/test/leftViews'],
  },
  {
    id: 'front-ends-4',
    file: 'packages/ag-ui/src/decisions.ts',
    what: 'a call of a tool that the client does not list is passed over',
    from: "if (!pending.every(({ kind, name }) => kind === 'call' && tools.has(name))) return []",
    to: "if (!pending.every(({ kind }) => kind === 'call')) return []",
    tests: ['packages/ag-ui/test/copilotKit.test'],
  },
  {
    id: 'front-ends-5',
    file: 'packages/ag-ui/src/watchRun.ts',
    what: 'a run that has begun under another id is not stopped',
    from: 'if (runId === undefined || run?.isLive === true) agent.abort()',
    to: 'if (runId === undefined) agent.abort()',
    tests: ['packages/ag-ui/test/copilotKit.test'],
  },
  {
    id: 'front-ends-6',
    file: 'packages/ai-sdk/src/decisions.ts',
    what: 'a call that a page has given up waits on, and what was said instead is refused',
    from: "if (part['state'] === 'output-error')",
    to: "if (part['state'] === 'nothing')",
    tests: ['packages/ai-sdk/test/people'],
  },
]
