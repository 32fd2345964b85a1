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
    file: 'src/stores/sqlite/writers.ts',
    what: 'an address announced after the first agent was opened is not written',
    from: "'UPDATE writers SET url = ? WHERE number = ?'",
    to: "'UPDATE writers SET url = url WHERE ?1 IS NULL OR number = ?2'",
    tests: ['contracts/stores'],
  },
  {
    id: 'elsewhere-5',
    file: 'src/stores/lockFile.ts',
    what: 'a lock that was released comes back when the address changes',
    from: '    const done = changing.then(async () => ((await isOurs()) ? change() : undefined))\n',
    to: '    const done = changing.then(change)\n',
    tests: ['stores/lockFile'],
  },
  {
    id: 'elsewhere-6',
    file: 'src/server/bridge/announcing.ts',
    what: 'the first server of two that closes takes the address of the other one back',
    from: '    await this.#say(urls.at(-1))\n',
    to: '    await this.#say(undefined)\n',
    tests: ['bridge/announcing'],
  },
]
