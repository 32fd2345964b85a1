import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { assert, describe } from '../../../../test/support/suite.ts'
import { collectGarbage } from '../../../../test/support/collectGarbage.ts'
import { storeFolder } from '../../../stores/test/storeFolder.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { hostMachine } from '../../src/hosts/hostMachine.ts'
import { hostingOf } from '../../src/hosts/registry.ts'
import { orderHost } from './orderMachine.ts'

const many = 1_000
const warm = 600

async function heapUsed(): Promise<number> {
  // What was let go in this turn is garbage in the next.
  await new Promise((resolve) => setTimeout(resolve, 50))
  collectGarbage()
  return process.memoryUsage().heapUsed
}

describe('a thousand machines asleep', (it) => {
  it('take no memory, and 3 kB each on disk', { timeoutMs: 120_000 }, async (context) => {
    const { dir, store } = await storeFolder(context)
    const runtime = await createRuntime({ store: store() })
    context.cleanup(() => runtime.close())
    const order = orderHost({ pay: async () => 'paid' })
    const sleep = async (from: number, to: number): Promise<void> => {
      for (let i = from; i < to; i += 1)
        await (await hostMachine(runtime, order, { id: `o${i}`, input: { cents: i } })).close()
    }
    // What every machine shares is there by now.
    await sleep(0, warm)
    const before = await heapUsed()
    await sleep(warm, many)
    const each = ((await heapUsed()) - before) / (many - warm)
    assert.is(hostingOf(runtime).open.size, 0)
    assert.ok(each < 500, `${Math.round(each)} bytes of memory each`)
    let bytes = 0
    for (const name of await readdir(dir, { recursive: true })) bytes += (await stat(join(dir, name))).size
    const onDisk = bytes / many
    assert.ok(onDisk < 3_000, `${Math.round(onDisk)} bytes each on disk`)
  })
})
