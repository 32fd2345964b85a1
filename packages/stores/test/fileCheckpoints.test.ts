import { mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Checkpoint } from '../../../src/protocol/ports/checkpoints.ts'
import { FileCheckpoints } from '../src/fileCheckpoints.ts'
import { fileStore } from '../src/fileStore.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { startStoreChild } from './startStoreChild.ts'
import { storeFolder } from './storeFolder.ts'

const checkpoint: Checkpoint = {
  seq: 7,
  form: '1',
  digest: 'd',
  body: Uint8Array.from({ length: 5_000 }, (_, at) => at & 255),
}

describe('the checkpoint of a log in a folder', (it) => {
  it('is refused, by name, when any part of its file is damaged', async (context) => {
    const { dir } = await storeFolder(context)
    const store = fileStore(dir)
    context.cleanup(() => store.close())
    await store.open('a')
    await store.checkpoints!.write('a', checkpoint)
    const file = join(dir, 'a.checkpoint')
    const whole = await readFile(file)
    assert.is((await store.checkpoints!.read('a'))?.seq, 7)
    const isRefused = (what: string): Promise<unknown> =>
      assert.rejects(store.checkpoints!.read('a'), (thrown) => (thrown as Error).message === `${file} is damaged`, what)
    for (const at of [0, 8, whole.indexOf(10), whole.indexOf(10) + 1, whole.length - 1]) {
      const damaged = Buffer.from(whole)
      damaged[at]! ^= 1
      await writeFile(file, damaged)
      await isRefused(`byte ${at}`)
    }
    const headed = whole.toString('latin1')
    for (const [part, other] of [
      ['"seq":7', '"seq":8'],
      ['"form":"1"', '"form":"2"'],
      ['"digest":"d"', '"digest":"e"'],
    ] as const) {
      await writeFile(file, Buffer.from(headed.replace(part, other), 'latin1'))
      await isRefused(other)
    }
    for (const length of [0, 3, 100, whole.length - 1]) {
      await writeFile(file, whole)
      await truncate(file, length)
      await isRefused(`${length} bytes`)
    }
    await writeFile(file, '{"seq":1}\n')
    await isRefused('a head alone')
    await store.checkpoints!.write('a', checkpoint)
    assert.is((await store.checkpoints!.read('a'))?.seq, 7)
  })

  it('is found whole when a process died while it wrote the next, and what that left goes with the log', async (context) => {
    const { dir } = await storeFolder(context)
    const store = fileStore(dir)
    context.cleanup(() => store.close())
    const lease = await store.open('a')
    await store.checkpoints!.write('a', checkpoint)
    await writeFile(join(dir, 'a.checkpoint.tmp'), 'half of the ne')
    assert.equal((await store.checkpoints!.read('a'))?.body.length, 5_000)
    await store.checkpoints!.write('a', { ...checkpoint, seq: 8 })
    assert.is((await store.checkpoints!.read('a'))?.seq, 8)
    await writeFile(join(dir, 'a.checkpoint.tmp'), 'half of the ne')
    await lease.release()
    await store.delete('a')
    assert.equal(await readdir(dir), [])
  })

  it('is the old one or the new one for whoever reads while it is written', async (context) => {
    const store = fileStore((await storeFolder(context)).dir)
    context.cleanup(() => store.close())
    await store.open('a')
    await store.checkpoints!.write('a', checkpoint)
    const big = { ...checkpoint, seq: 9, body: new Uint8Array(8_000_000) }
    const writing = store.checkpoints!.write('a', big)
    for (let seq: number | undefined = 7; seq !== 9;) {
      seq = (await store.checkpoints!.read('a'))?.seq
      assert.ok(seq === 7 || seq === 9)
    }
    await writing
  })

  it('is whole after a kill -9 in the middle of writing it', { timeoutMs: 20_000 }, async (context) => {
    const { dir } = await storeFolder(context)
    const store = fileStore(dir)
    context.cleanup(() => store.close())
    for (let life = 1; life <= 4; life += 1) {
      const child = await startStoreChild(dir, context)
      await child.ask({ do: 'open', ids: ['a'] })
      child.send({ do: 'checkpointForEver', id: 'a', bytes: 3_000_000 })
      let written = 0
      while (written < life) written = (await child.nextAnswer()).ok as number
      for (let reads = 0; reads < 10; reads += 1) assert.ok((await store.checkpoints!.read('a')) !== undefined)
      await child.kill()
      const found = await store.checkpoints!.read('a')
      assert.ok(found !== undefined && found.seq >= written, `after ${written}`)
      assert.ok(found.body.every((byte) => byte === found.seq))
      await (await store.open('a')).release()
    }
  })

  it('takes no id that leads out of the folder', async (context) => {
    const store = fileStore((await storeFolder(context)).dir)
    context.cleanup(() => store.close())
    await assert.rejects(store.checkpoints!.read('../a'), withCode('INVALID_ID'))
  })
})

describe('writes of checkpoints', (it) => {
  const at = (seq: number): Checkpoint => ({ ...checkpoint, seq })
  const writing = async (context: CaseContext, check: (agentId: string) => void = () => {}) => {
    const { dir } = await storeFolder(context)
    return { dir, checkpoints: new FileCheckpoints((agentId) => join(dir, agentId), check) }
  }

  it('go one after the other, and are waited for to the last', async (context) => {
    const { dir, checkpoints } = await writing(context)
    const writes = [1, 2, 3].map((seq) => checkpoints.write('a', at(seq)))
    await writes[0]
    await checkpoints.settled('a')
    assert.is((await checkpoints.read('a'))?.seq, 3)
    await Promise.all(writes)
    const last = checkpoints.write('a', at(4))
    await checkpoints.delete('a')
    await last
    assert.equal([await checkpoints.read('a'), await readdir(dir)], [undefined, []])
  })

  it('are refused to who may not write, and leave nothing where they fail', async (context) => {
    const refused = await writing(context, (agentId) => {
      throw new Error(`not ${agentId}`)
    })
    await assert.rejects(refused.checkpoints.write('a', at(1)), /not a/)
    assert.equal(await readdir(refused.dir), [])
    const { dir, checkpoints } = await writing(context)
    // A folder that is not empty is in the way.
    await mkdir(join(dir, 'a', 'in the way'), { recursive: true })
    const writes = await Promise.allSettled([1, 2].map((seq) => checkpoints.write('a', at(seq))))
    assert.equal([writes.map(({ status }) => status), await readdir(dir)], [['rejected', 'rejected'], ['a']])
    await rm(join(dir, 'a'), { recursive: true })
    await checkpoints.write('a', at(3))
    assert.is((await checkpoints.read('a'))?.seq, 3)
  })
})
