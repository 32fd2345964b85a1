import { z } from 'zod'
import { defineAgent, defineTool, createRuntime } from '../../src/index.ts'
import { scriptedModel } from '../../src/testing.ts'
import { memoryStore } from '../../src/runtime/stores/memoryStore.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
const store = { ...memoryStore(), close: async () => {} }
const careful = defineTool({ name: 'careful', description: 'Asks.', input: z.object({}), needsApproval: true, run: async () => 'done' })
const rt = await createRuntime({ store })
const a = await rt.spawn(defineAgent({ name: 'a', model: scriptedModel([{ toolCalls: [{ name: 'careful', input: {} }] }]), tools: [careful] }), { id: 't' })
a.prompt('hi')
await new Promise((r) => setTimeout(r, 100))
console.log(a.state, a.approvals(), a.pause)
const show = async () => { for await (const r of store.read('t')) console.log(r.seq, r.type, (r as any).requestId ?? '', (r as any).stopReason ?? '', (r as any).reason ?? '') }
const copy = memoryStore()
const lease = await copy.open('t')
const all: LogRecord[] = []
for await (const r of store.read('t')) all.push(r)
await copy.append('t', all); await lease.release()
await rt.close()
await show()
for (const s of [store, copy]) {
  const rt2 = await createRuntime({ store: s })
  const b = await rt2.resume('t', defineAgent({ name: 'a', model: scriptedModel(['fine']), tools: [careful] }))
  console.log('restored', b.state, b.approvals(), b.pause)
  const heard: string[] = []
  b.subscribe((e) => void heard.push(e.type))
  await new Promise((r) => setTimeout(r, 50))
  console.log('later', b.state, b.approvals(), b.pause, heard)
  if (b.pause && b.pause.type !== 'approvals') b.resume()
  await new Promise((r) => setTimeout(r, 50))
  console.log('later', b.state, b.approvals(), b.pause, heard)
  await rt2.close()
}
