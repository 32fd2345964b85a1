import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'deps-1',
    file: 'src/runtime/children/runDeps.ts',
    what: 'a run that goes on after a pause has what the agent has, and not what it had',
    from: "cause === 'resume' ? this.resumed : this.#own",
    to: 'this.#own',
    tests: ['journeys/givesDeps'],
  },
  {
    id: 'deps-2',
    file: 'src/runtime/children/runDeps.ts',
    what: 'what a prompt gave is there after its run',
    from: "record.type === 'run.end' && record.stopReason !== 'paused'",
    to: "record.type === 'agent.stopped'",
    tests: ['journeys/givesDeps', 'runtime/runDeps'],
  },
  {
    id: 'deps-3',
    file: 'src/runtime/children/runDeps.ts',
    what: 'a sub-agent has the deps of its caller, whatever its entry says',
    from: 'agent.deps === null ? parent.deps : mapped(agent, parent)',
    to: 'parent.deps',
    tests: ['journeys/givesDeps'],
  },
  {
    id: 'deps-4',
    file: 'src/runtime/runtime.ts',
    what: 'a run goes on without the deps that it needs',
    from: 'if (goesOn) checkOwedDeps(definition, deps, history)',
    to: '',
    tests: ['journeys/keepsDepsToItself'],
  },
  {
    id: 'deps-5',
    file: 'src/runtime/agents/agentHost.ts',
    what: 'an idle agent that is unloaded loses its deps',
    from: `    this.under = undefined
`,
    to: `    this.under = undefined
    this.given = undefined
`,
    tests: ['journeys/givesDeps'],
  },
  {
    id: 'deps-6',
    file: 'packages/bridge/src/server/servedDeps.ts',
    what: 'a client reads why the deps of an agent could not be made',
    from: '}" could not be made.`',
    to: '}" could not be made: ${String(thrown)}`',
    tests: ['journeys/keepsDepsToItself'],
  },
]
