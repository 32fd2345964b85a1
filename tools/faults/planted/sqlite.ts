import type { Fault } from '../mutate.ts'

const tests = ['stores/sqlite']

/** Slips in the SQLite store where its file, or another process, is not as it should be. */
export const faults: readonly Fault[] = [
  {
    id: 'sqlite-1',
    file: 'src/stores/sqlite/sqliteStore.ts',
    what: 'an append is refused because another process writes at that moment',
    from: 'if (isBusy(thrown)) return false',
    to: '',
    tests,
  },
  {
    id: 'sqlite-2',
    file: 'src/stores/sqlite/appendQueue.ts',
    what: 'an append waits for ever for a process that hangs in the middle of a write',
    from: 'return now - this.#busySince < patienceMs',
    to: 'return true',
    tests,
  },
  {
    id: 'sqlite-3',
    file: 'src/stores/sqlite/appendQueue.ts',
    what: 'appends that had to wait are written in another order',
    from: 'this.#waiting.unshift(...group)',
    to: 'this.#waiting.push(...group.toSorted((a, b) => b.records[0]!.seq - a.records[0]!.seq))',
    tests,
  },
  {
    id: 'sqlite-4',
    file: 'src/stores/sqlite/tables.ts',
    what: 'a database that may only be read is not read',
    from: 'if (versionOf(database) === steps.length) return',
    to: '',
    tests,
  },
  {
    id: 'sqlite-5',
    file: 'src/stores/sqlite/tables.ts',
    what: 'tables are made in the database of something else',
    from: "throw new Error('it is the database of something else')",
    to: "database.exec('')",
    tests,
  },
  {
    id: 'sqlite-6',
    file: 'src/stores/sqlite/sqliteStore.ts',
    what: 'a log with a gap is read as if it had none',
    from: 'if (seq !== next) throw new RuntimeError(',
    to: 'if (seq < next) throw new RuntimeError(',
    tests,
  },
  {
    id: 'sqlite-7',
    file: 'src/stores/sqlite/sqliteStore.ts',
    what: 'a log that a store could not let go of is lost to it',
    from: 'await this.#writers.known',
    to: 'undefined',
    tests: ['stores/sqlite/badFiles'],
  },
  {
    id: 'sqlite-8',
    file: 'src/stores/sqlite/sqliteStore.ts',
    what: 'a log that is open can be opened twice',
    from: 'this.#leases.has(agentId) ? undefined : ',
    to: '',
    tests: ['stores/sqlite/badFiles', 'contracts/stores'],
  },
  {
    id: 'sqlite-9',
    file: 'src/stores/sqlite/sqliteStore.ts',
    what: 'logs that could not be let go of are never free for others',
    from: 'const leases = [...this.#unreleased, lease]',
    to: 'const leases = [lease]',
    tests: ['stores/sqlite/badFiles'],
  },
]
