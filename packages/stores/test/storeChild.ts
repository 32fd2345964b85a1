/**
 * A process of its own for the store tests: `node storeChild.ts <dir or file.db> [<durability>]`, then one JSON request a line on stdin, answered
 * by one line each: `{ ok }` or `{ code, message }`. Ends when stdin ends, with every store closed.
 */
import { createInterface } from 'node:readline'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { fileStore } from '../src/fileStore.ts'
import { sqliteStore } from '../../sqlite/src/sqliteStore.ts'

export type ChildRequest =
  | { readonly do: 'open'; readonly ids: readonly string[] }
  | { readonly do: 'append'; readonly id: string; readonly from: number; readonly to: number }
  /** Appends one record after the other for ever, with `ahead` more (default 0) under way, and says each acknowledged seq. */
  | { readonly do: 'appendForEver'; readonly id: string; readonly ahead?: number }
  /** Writes one checkpoint after the other for ever, each of its seq in every byte, and says each that is written. */
  | { readonly do: 'checkpointForEver'; readonly id: string; readonly bytes: number }

// Reaching `ulimit -f` is to fail the write, not to kill the process.
if (process.platform !== 'win32') process.on('SIGXFSZ', () => {})

const [dir = '', durability = 'os'] = process.argv.slice(2)
const store = dir.endsWith('.db')
  ? sqliteStore(dir, { durability: durability as 'os' | 'batch' })
  : fileStore(dir, { durability: durability as 'os' | 'batch' | 'each' })
const say = (line: unknown): void => void process.stdout.write(`${JSON.stringify(line)}\n`)

async function answer(request: ChildRequest): Promise<unknown> {
  if (request.do === 'append') return store.append(request.id, recordsBetween(request.from, request.to))
  if (request.do === 'open') {
    const tries = await Promise.allSettled(request.ids.map((id) => store.open(id)))
    const refused = tries.find((attempt) => attempt.status === 'rejected' && attempt.reason.code !== 'STORE_LOCKED')
    if (refused?.status === 'rejected') throw refused.reason
    if (request.ids.length === 1 && tries[0]?.status === 'rejected') throw tries[0].reason
    return request.ids.filter((_, index) => tries[index]?.status === 'fulfilled')
  }
  if (request.do === 'checkpointForEver')
    for (let seq = 1; ; seq += 1) {
      const body = new Uint8Array(request.bytes).fill(seq & 255)
      await store.checkpoints!.write(request.id, { seq, form: 'f', digest: `${seq}`, body })
      say({ ok: seq })
    }
  const underWay: Promise<void>[] = []
  for (let seq = 1; ; seq += 1) {
    underWay.push(store.append(request.id, recordsBetween(seq, seq)).then(() => say({ ok: seq })))
    if (underWay.length > (request.ahead ?? 0)) await underWay.shift()
  }
}

say({ ok: 'ready' })
for await (const line of createInterface({ input: process.stdin })) {
  const request: ChildRequest = JSON.parse(line)
  try {
    say({ ok: (await answer(request)) ?? null })
  } catch (thrown) {
    say({ code: thrown instanceof RuntimeError ? thrown.code : 'OTHER', message: String(thrown) })
  }
}
await store.close()
