import type { Fault } from '../mutate.ts'

/** Slips in agents that sleep, in the times of the engine, and in rules that come with decisions. */
export const faults: readonly Fault[] = [
  {
    id: 'asleep-1',
    file: 'src/runtime/agents/agentHost.ts',
    what: 'the run of an agent that is unloaded while it sleeps is over for whoever waits for it',
    from: 'if (!this.machine.isAsleep) this.ended(null)',
    to: 'this.ended(null)',
    tests: ['schedules/unloadedSleep'],
  },
  {
    id: 'asleep-2',
    file: 'src/runtime/agents/unloaded.ts',
    what: 'an abort does not reach an agent that sleeps unloaded',
    from: 'this.unseen === 0 && !this.#owner.machine.isAsleep',
    to: 'this.unseen === 0',
    tests: ['schedules/unloadedSleep'],
  },
  {
    id: 'asleep-3',
    file: 'src/runtime/agents/dueTimer.ts',
    what: 'an agent that sleeps for days is loaded every day',
    from: '    if (at === null || at > now) return this.#wait(now)\n',
    to: '',
    tests: ['schedules/unloadedSleep'],
  },
  {
    id: 'asleep-4',
    file: 'src/runtime/agents/dueTimer.ts',
    what: 'an agent whose log could not be opened at its time sleeps on',
    from: 'if (machine.open !== undefined && this.#cancel === undefined)',
    to: 'if (machine.open === undefined)',
    tests: ['schedules/unloadedSleep'],
  },
  {
    id: 'asleep-5',
    file: 'src/runtime/agents/dueTimer.ts',
    what: 'the process ends while somebody waits for a run that sleeps',
    from: 'context?.run == null ? quietly : undefined',
    to: 'quietly',
    tests: ['schedules/unloadedSleep'],
  },
  {
    id: 'asleep-6',
    file: 'src/runtime/agents/decide.ts',
    what: 'a rule that comes with a decision is added to the sub-agent alone',
    from: 'if (mayKeep(agent.parent, grant)) keeper = agent.parent',
    to: 'if (mayKeep(agent.parent, grant)) break',
    tests: ['journeys/rulesOfDecisions'],
  },
  {
    id: 'asleep-7',
    file: 'src/runtime/agents/permissions.ts',
    what: 'rules that are added meanwhile are not seen',
    from: 'if (known?.from.every((part, index) => part === from[index]) === true) return known.permissions',
    to: 'if (known !== undefined) return known.permissions',
    tests: ['journeys/rulesOfDecisions'],
  },
  {
    id: 'asleep-8',
    file: 'packages/cluster/src/restate/agentObject.ts',
    what: 'the engine is not asked to wake an agent',
    from: "if (due !== undefined && (before?.due !== due.at || first.command.type === 'wake'))",
    to: 'if (due !== undefined && before?.due === due.at)',
    tests: ['cluster/test/restate/schedules'],
  },
]
