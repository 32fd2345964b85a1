import type { Fault } from '../mutate.ts'

const pair = 'packages/bridge/src/inProcess/socketPair.ts'
const server = 'packages/bridge/src/inProcess/inProcessServer.ts'
const pack = 'packages/page/src/sessionPages/packSession.ts'
const unpack = 'packages/page/src/offline/unpackSession.ts'
const file = 'packages/page/src/sessionPages/sessionFile.ts'

/** Slips between a client and a bridge of one process, and in sessions that stand beside a page. */
export const faults: readonly Fault[] = [
  {
    id: 'offline-1',
    file: pair,
    what: 'a close overtakes what was sent before',
    from: 'from.end(() => over(code, reason))',
    to: 'over(code, reason)',
    tests: ['inProcess/socketPair'],
  },
  {
    id: 'offline-2',
    file: pair,
    what: 'what waits is never counted down, so that a client counts as stuck',
    from: 'this.waiting -= next.text.length',
    to: '',
    tests: ['inProcess/socketPair'],
  },
  {
    id: 'offline-3',
    file: pair,
    what: 'a sender is not told that what it sent is lost, and waits for ever',
    from: 'for (const { done } of this.#waiting.splice(0)) done?.()',
    to: 'this.#waiting.splice(0)',
    tests: ['inProcess/socketPair'],
  },
  {
    id: 'offline-4',
    file: server,
    what: 'a client may send so much and then nothing ever again',
    from: 'this.#stopHeartbeat = startHeartbeat(shared.clock, this.bridge)',
    to: 'this.#stopHeartbeat = () => startHeartbeat',
    tests: ['inProcess/inProcessServer'],
  },
  {
    id: 'offline-5',
    file: server,
    what: 'a client in the process may do more than it was allowed',
    from: '      role,\n      definitions: new Map',
    to: '      definitions: new Map',
    tests: ['inProcess/inProcessServer'],
  },
  {
    id: 'offline-6',
    file: pack,
    what: 'records come after a gap',
    from: '      lines.close()\n',
    to: '',
    tests: ['sessionPages/sessionPages'],
  },
  {
    id: 'offline-7',
    file: pack,
    what: 'a page has more of a source than a fork shares',
    from: 'for await (const record of readPart(store, part))',
    to: 'for await (const record of readPart(store, { ...part, upTo: Infinity }))',
    tests: ['sessionPages/sessionPages'],
  },
  {
    id: 'offline-8',
    file: unpack,
    what: 'a file of a newer version is read as if it were of this one',
    from: 'if (packed.data.version > pagesVersion) throw tooNew(file)',
    to: '',
    tests: ['sessionPages/sessionPages'],
  },
  {
    id: 'offline-9',
    file: unpack,
    what: 'records that are missing in the middle of a log are not noticed',
    from: 'if (record.seq === seq) return record',
    to: 'if (record.seq >= seq) return record',
    tests: ['sessionPages/sessionPages'],
  },
  {
    id: 'offline-10',
    file,
    what: 'what somebody said ends a script of the page',
    from: String.raw`/[<\u2028\u2029]/g`,
    to: String.raw`/[\u2028\u2029]/g`,
    tests: ['sessionPages/sessionPages'],
  },
  {
    id: 'offline-11',
    file: 'packages/page/src/offline/fileLogs.ts',
    what: 'a session that could not be loaded is never loaded again',
    from: '      this.#loaded.delete(file)\n      if (!(thrown',
    to: '      if (!(thrown',
    tests: ['sessionPages/sessionPages'],
  },
  {
    id: 'offline-12',
    file: 'packages/page/src/sessionPages/pageHtml.ts',
    what: 'the page may fetch from anywhere',
    from: `"default-src 'none'",`,
    to: '',
    tests: ['sessionPages/sessionPages', 'offline/sessionPageInChromium'],
  },
]
