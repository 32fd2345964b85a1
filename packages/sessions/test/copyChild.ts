/** `node copyChild.ts <dir> <copy|move>`: copies from the files of a folder to SQLite, says `middle` after half of a log, and goes no further. */
import { copySessions } from '../src/copySessions.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { storeKinds } from './copyStores.ts'

const [dir = '', how] = process.argv.slice(2)
const target = storeKinds['sqlite']!(dir)
let appends = 0
const store = {
  ...target,
  read: (id: string, from?: number, limit?: number) => target.read(id, from, limit),
  list: () => target.list(),
  open: (id: string) => target.open(id),
  snapshots: target.snapshots!,
  close: () => target.close(),
  async append(id: string, records: readonly LogRecord[], epoch?: number) {
    await target.append(id, records, epoch)
    appends += id === 'a' ? 1 : 0
    if (appends !== 1) return
    process.stdout.write('middle\n')
    setInterval(() => {}, 1_000)
    await new Promise(() => {})
  },
}
await copySessions(storeKinds['file']!(dir), store, { isMove: how === 'move' })
