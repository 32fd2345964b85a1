import type { Fault } from '../mutate.ts'

/** Slips where what is looked at and what is used are two things. */
export const faults: readonly Fault[] = [
  {
    id: 'seams-1',
    file: 'packages/tools/src/workspace/inItsFolder.ts',
    what: 'a folder that becomes a link while a call is at work has a file outside deleted',
    from: 'return await use(join(`/proc/self/fd/${handle.fd}`, basename(real)))',
    to: 'return await use(join(folder, basename(real)))',
    tests: ['workspace/undoFile'],
  },
  {
    id: 'seams-2',
    file: 'packages/tools/src/workspace/searchIn.ts',
    what: 'a search reads in a folder that became a link since it was looked at',
    from: ' || (await placeOf(handle, real)) !== real',
    to: '',
    tests: ['workspace/confinement'],
  },
  {
    id: 'seams-3',
    file: 'packages/mcp/src/client/httpTransport.ts',
    what: 'a server of elsewhere has us ask hosts of our own network',
    from: '    await checkLead(server, to, { allowed, lookup })\n',
    to: '',
    tests: ['packages/mcp/test/client/ownNetwork'],
  },
  {
    id: 'seams-4',
    file: 'packages/stores/src/holder.ts',
    what: 'a process of another container passes for one that has ended',
    from: ' || holder.pidSpace !== own.pidSpace',
    to: '',
    tests: ['packages/postgres/test/leases'],
  },
  {
    id: 'seams-5',
    file: 'packages/sessions/src/saidInLogs.ts',
    what: 'what was said in a log since the last search is not found',
    from: 'if (known?.size === size && known.writtenAt === writtenAt) return known.said',
    to: 'if (known !== undefined) return known.said',
    tests: ['sessions/test/searchSessions'],
  },
  {
    id: 'seams-6',
    file: 'src/machines/contextFold.ts',
    what: 'a stored call that waits is not marked as one that cannot be undone',
    from: '...(irreversible === undefined ? {} : { irreversible }),\n      ...(suggest',
    to: '...(suggest',
    tests: ['runtime/resumeAll'],
  },
  {
    id: 'seams-7',
    file: 'packages/waking/src/logStanding.ts',
    what: 'an imported session waits for people',
    from: 'if (this.#isStopped || foreign)',
    to: 'if (this.#isStopped)',
    tests: ['runtime/resumeAll'],
  },
]
