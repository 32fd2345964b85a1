/**
 * A process that is killed in the tests: its agent works, and then everything is undone. `deadly` says when it dies: `before tool.end 3` and `after tool.end 3`
 * are the third record of that type, `put 4` the fourth content that is kept, `get 2` the second that is read, and `working` is the middle of a command.
 */
import type { Store } from '../../../../../src/protocol/ports/store.ts'
import { createRuntime } from '../../../../../src/index.ts'
import { fileStore } from '../../../../stores/src/fileStore.ts'
import { treeAgent, undoAll } from './treeJob.ts'

const [logs = '', folder = '', deadly = ''] = process.argv.slice(2)
const [when = '', type = '', number = type] = deadly.split(' ')

const die = (): Promise<never> => {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => {})
}
let seen = 0
const isIt = (holds: boolean): boolean => holds && ++seen === Number(number)

const inner = fileStore(logs)
const snapshots = inner.snapshots!
const store: Store = {
  read: (agentId, fromSeq) => inner.read(agentId, fromSeq),
  list: () => inner.list(),
  open: (agentId) => inner.open(agentId),
  close: () => inner.close(),
  snapshots: {
    maxFileBytes: snapshots.maxFileBytes,
    put: (agentId, bytes) => (isIt(when === 'put') ? die() : snapshots.put(agentId, bytes)),
    get: (agentId, id) => (isIt(when === 'get') ? die() : snapshots.get(agentId, id)),
  },
  async append(agentId, records) {
    const at = records.findIndex((record) => isIt(record.type === type && (when === 'before' || when === 'after')))
    const whole = at === -1 ? records : records.slice(0, when === 'before' ? at : at + 1)
    if (whole.length > 0) await inner.append(agentId, whole)
    if (at !== -1) await die()
  },
}

const runtime = await createRuntime({ store })
// Its shell has this process above it.
const agent = await runtime.spawn(treeAgent(folder, when === 'working' ? 'kill -9 $PPID' : 'true'), { id: 'a1' })
await agent.prompt('go').result
agent.revert('n1', undoAll)
await agent.settled()
await runtime.close()
