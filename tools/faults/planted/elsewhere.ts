import type { Fault } from '../mutate.ts'

/** Slips in saying which process has an agent, and in waiting for it. */
export const faults: readonly Fault[] = [
  {
    id: 'elsewhere-1',
    file: 'src/runtime/openLease.ts',
    what: 'an agent that is free by now is not opened, as it was tried once only',
    from: '      if (left <= 0) {',
    to: '      if (left <= Infinity) {',
    tests: ['runtime/elsewhere'],
  },
  {
    id: 'elsewhere-2',
    file: 'src/runtime/openLease.ts',
    what: 'an agent is waited for after its signal has said enough',
    from: '    signal?.throwIfAborted()\n    try',
    to: '    try',
    tests: ['runtime/elsewhere'],
  },
  {
    id: 'elsewhere-3',
    file: 'src/runtime/openLease.ts',
    what: 'who shares the store in this process is sent to another one',
    from: "holder === 'nobody' || holder.isHere)",
    to: "holder === 'nobody')",
    tests: ['runtime/elsewhere'],
  },
  {
    id: 'elsewhere-4',
    file: 'packages/sqlite/src/writers.ts',
    what: 'an address announced after the first agent was opened is not written',
    from: "'UPDATE writers SET url = ? WHERE number = ?'",
    to: "'UPDATE writers SET url = url WHERE ?1 IS NULL OR number = ?2'",
    tests: ['contracts/stores'],
  },
  {
    id: 'elsewhere-5',
    file: 'packages/stores/src/lockFile.ts',
    what: 'a lock that was released comes back when the address changes',
    from: '    const done = changing.then(async () => ((await isOurs()) ? change() : undefined))\n',
    to: '    const done = changing.then(change)\n',
    tests: ['stores/test/lockFile'],
  },
  {
    id: 'elsewhere-6',
    file: 'packages/bridge/src/server/announcing.ts',
    what: 'the first server of two that closes takes the address of the other one back',
    from: '    await this.#say(urls.at(-1))\n',
    to: '    await this.#say(undefined)\n',
    tests: ['packages/bridge/test/server/announcing'],
  },
  {
    id: 'elsewhere-7',
    file: 'src/runtime/agents/ports.ts',
    what: 'an effect begins though the lease was over since its record',
    from: `    log.checkHeld()
    return announcer.within(effect, run)`,
    to: `    void log
    return announcer.within(effect, run)`,
    tests: ['runtime/lostLeases'],
  },
  {
    id: 'elsewhere-8',
    file: 'src/actors/models/standInGate.ts',
    what: 'a model that is asked after another one is asked under a lease that is over',
    from: '      checkHeld()\n      return model.stream',
    to: '      return model.stream',
    tests: ['runtime/lostLeases'],
  },
  {
    id: 'elsewhere-9',
    file: 'src/runtime/children/children.ts',
    what: 'a sub-agent is opened by who has lost the log of its parent',
    from: `      await this.#parent.log.held()
`,
    to: `      await this.#parent.log.durable()
`,
    tests: ['runtime/lostLeases'],
  },
  {
    id: 'elsewhere-10',
    file: 'packages/sqlite/src/sqliteStore.ts',
    what: 'a file that another process has taken a log of is not looked at',
    from: 'return this.#newestEpoch(agentId) === lease.epoch',
    to: 'return true',
    tests: ['runtime/lostLeases'],
  },
  {
    id: 'elsewhere-11',
    file: 'packages/postgres/src/postgresStore.ts',
    what: 'a lease that ended while the database was away is not renewed, and its agent ends',
    from: '    if (this.#worker.holds) return\n',
    to: "    if (this.#worker.holds || agentId !== '') return\n",
    tests: ['packages/postgres/test/leases'],
  },
]
