import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fileStore } from '../../../stores/src/fileStore.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { ledgerOf } from './matrixOrder.ts'

const script = fileURLToPath(new URL('killedHost.ts', import.meta.url))

interface Ended {
  readonly end: unknown
  readonly records: number
}

/** Works on the order in another process; `undefined`: it was killed after its record number `last`. */
async function work(folder: string, last: number): Promise<Ended | undefined> {
  const child = spawn(process.execPath, [script, folder, String(last)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk) => (said += String(chunk)))
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  assert.ok(code === 0 || signal === 'SIGKILL', `ended with ${code} ${signal}`)
  return signal === null ? (JSON.parse(said) as Ended) : undefined
}

/** Kills the work after its record number `last`, and has it finished. */
async function killedAfter(last: number): Promise<{ end: unknown; paid: number; runs: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'host-'))
  try {
    await mkdir(join(folder, 'logs'))
    if (last > 0) assert.is(await work(folder, last), undefined, `killed after record ${last}`)
    const ended = await work(folder, 0)
    const store = fileStore(join(folder, 'logs'))
    const agents = (await store.list()).filter((id) => id !== 'order-17')
    let runs = 0
    for (const id of agents) for await (const record of store.read(id)) if (record.type === 'tool.end') runs += 1
    await store.close()
    return { end: ended?.end, paid: (await ledgerOf(folder)).length, runs: agents.length * 100 + runs }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

describe('a hosted machine whose process is killed', (it) => {
  it('comes to the same end after each of its records', { timeoutMs: 600_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'host-'))
    await mkdir(join(folder, 'logs'))
    const { end, records } = (await work(folder, 0))!
    await rm(folder, { recursive: true, force: true })
    assert.ok(records >= 28)
    for (let last = 1; last < records; last += 4) {
      const lasts = [0, 1, 2, 3].flatMap((more) => (last + more < records ? [last + more] : []))
      for (const [index, one] of (await Promise.all(lasts.map(killedAfter))).entries())
        assert.equal({ ...one, last: lasts[index] }, { end, paid: 1, runs: 101, last: lasts[index] })
    }
  })
})
