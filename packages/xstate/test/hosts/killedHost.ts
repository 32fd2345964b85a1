/** Works on an order, and kills its own process after so many records, whichever log they are of. */
import { join } from 'node:path'
import { fileStore } from '../../../stores/src/fileStore.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { workOnOrder } from './matrixOrder.ts'

const [folder = '', last = '0'] = process.argv.slice(2)
const files = fileStore(join(folder, 'logs'))
let count = 0

const store: Store = new Proxy(files, {
  get: (target, name) => {
    if (name !== 'append') {
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    }
    const append: Store['append'] = async (id, records, epoch) => {
      for (const record of records) {
        await target.append(id, [record], epoch)
        count += 1
        if (count === Number(last)) process.kill(process.pid, 'SIGKILL')
      }
    }
    return append
  },
})

console.log(JSON.stringify({ end: await workOnOrder(folder, store), records: count }))
