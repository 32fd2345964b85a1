import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'memories-1',
    file: 'src/protocol/memory.ts',
    what: 'what is tainted counts once two runs came to it',
    from: "approved || (!tainted && (kind !== 'lesson' || confirmations.length >= confirmationsNeeded))",
    to: "approved || (kind !== 'lesson' ? !tainted : confirmations.length >= confirmationsNeeded)",
    tests: ['memory/mergeMemory'],
  },
  {
    id: 'memories-2',
    file: 'src/protocol/memory.ts',
    what: 'what is tainted takes the place of what is known',
    from: '(put.tainted && !known.tainted && !put.approved)',
    to: 'false',
    tests: ['memory/mergeMemory', 'contracts/memories'],
  },
  {
    id: 'memories-3',
    file: 'src/memory/markdownMemory.ts',
    what: 'processes write over one another',
    from: 'const lock = await whenFree(`${path}.lock`)',
    to: 'const lock = { release: async () => {} } as FileLock',
    tests: ['contracts/memories', 'memory/memoryProcesses'],
  },
  {
    id: 'memories-4',
    file: 'src/memory/memoryFile.ts',
    what: 'a file that was renamed gives one user what is known of another',
    from: '  if (told === scope) return { head, sections }\n',
    to: '  if (told !== undefined) return { head, sections }\n',
    tests: ['memory/markdownMemory'],
  },
  {
    id: 'memories-5',
    file: 'src/memory/sqliteMemory.ts',
    what: 'a search finds what is known of other users',
    from: 'const ofScopes = scopes === undefined ? []',
    to: 'const ofScopes = scopes !== undefined ? []',
    tests: ['contracts/memories'],
  },
  {
    id: 'memories-6',
    file: 'src/memory/sqliteMemory.ts',
    what: 'what was deleted can be read in the file',
    from: "if (count > 0) guarded(this.#file, () => this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)'))",
    to: '',
    tests: ['memory/sqliteMemory'],
  },
]
