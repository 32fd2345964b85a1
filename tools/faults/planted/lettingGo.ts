import type { Fault } from '../mutate.ts'

/** Slips in letting go of agents, and in leases that others take. */
export const faults: readonly Fault[] = [
  {
    id: 'letting-go-1',
    file: 'src/runtime/agents/log.ts',
    what: 'a writer does not name its epoch, so one whose log was taken writes on',
    from: 'this.#store.append(this.#owner.agentId, records, this.#epoch)',
    to: 'this.#store.append(this.#owner.agentId, records)',
    tests: ['journeys/letsGoOfAgents'],
  },
  {
    id: 'letting-go-2',
    file: 'src/runtime/agents/log.ts',
    what: 'an agent whose log was taken only pauses, for ever',
    from: 'if (this.isLost) this.#owner.leaseLost(error)',
    to: 'if (false as boolean) this.#owner.leaseLost(error)',
    tests: ['journeys/letsGoOfAgents'],
  },
  {
    id: 'letting-go-3',
    file: 'src/runtime/letGo.ts',
    what: 'the logs of sub-agents are not free yet',
    from: `  await Promise.all(tree.flatMap((one) => one.family.released() ?? []))
`,
    to: '',
    tests: ['journeys/letsGoOfAgents'],
  },
  {
    id: 'letting-go-4',
    file: 'src/runtime/agents/machine.ts',
    what: 'who waits for a run of an agent that was let go of hears that it was aborted',
    from: 'this.#hasEnded(this.wasLetGo ?? null)',
    to: 'this.#hasEnded(null)',
    tests: ['journeys/letsGoOfAgents'],
  },
  {
    id: 'letting-go-5',
    file: 'src/runtime/children/children.ts',
    what: 'sub-agents are not taken over with their root',
    from: 'openLog(childId, store, this.#parent.leasing)',
    to: 'openLog(childId, store)',
    tests: ['journeys/letsGoOfAgents'],
  },
  {
    id: 'letting-go-6',
    file: 'src/runtime/agents/log.ts',
    what: 'an agent does not hear that its log was taken until it writes',
    from: `    void lease.lost?.then(() => this.#lose())
`,
    to: '',
    tests: ['journeys/letsGoOfAgents'],
  },
  {
    id: 'letting-go-7',
    file: 'src/runtime/letGo.ts',
    what: 'an incognito agent is let go of, and lost',
    from: `  checkStored(host, 'detach')
`,
    to: '',
    tests: ['journeys/letsGoOfAgents'],
  },
  {
    id: 'letting-go-9',
    file: 'src/runtime/runtime.ts',
    what: 'a tree that has lost the log of a sub-agent starts that again, and waits',
    from: 'letGo(rootOf(host), why, this)',
    to: 'letGo(host, why, this)',
    tests: ['journeys/letsGoOfAgents'],
  },
  {
    id: 'letting-go-8',
    file: 'packages/stores/src/rules/appendChecks.ts',
    what: 'a writer whose log was taken may write again once the taker is gone',
    from: 'named < newest',
    to: 'held !== undefined && named < newest',
    tests: ['contracts/stores'],
  },
]
