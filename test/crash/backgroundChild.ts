/**
 * One life of an agent with calls in the background: `node backgroundChild.ts <folder> <effects> [<mode> <record>]` goes on from wherever the life
 * before ended, and ends when nothing more comes, unless it is killed at that record.
 */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as tick } from 'node:timers/promises'
import { z } from 'zod'
import { createRuntime, defineAgent, defineTool, policyModel } from '../../src/index.ts'
import type { ToolEffects } from '../../src/actors/tools/defineTool.ts'
import { fileStore } from '../../packages/stores/src/fileStore.ts'
import { killingStore, type KillMode } from './killingStore.ts'

const [folder = '', effects, mode, at] = process.argv.slice(2)
const build = defineTool({
  name: 'build',
  description: 'Builds.',
  input: z.object({ what: z.string() }),
  effects: effects as ToolEffects,
  background: true,
  run: async ({ what }, { key }) => {
    appendFileSync(join(folder, 'ledger'), `${key}\n`)
    for (let left = 5; left > 0; left -= 1) await tick()
    return `${what} built`
  },
})
const model = policyModel(({ messages }) => {
  const results = messages.filter(({ role }) => role === 'toolResult').length
  if (results === 0) return { toolCalls: ['site', 'docs'].map((what) => ({ name: 'build', input: { what } })) }
  return results === 2 ? { toolCalls: [{ name: 'build', input: { what: 'tests' } }] } : 'heard'
})
const inner = fileStore(join(folder, 'store'))
const store =
  mode === undefined ? inner : killingStore(inner, join(folder, 'store'), { mode: mode as KillMode, at: Number(at) })
const runtime = await createRuntime({ store })
const agent = await runtime.open('a1', defineAgent({ name: 'builder', model, tools: [build] }))
await agent.askOnce('go', 'Build it.')
for (;;) {
  if (agent.pause !== null) await agent.resume().result
  const settled = await agent.settled()
  if (settled.status === 'idle' && settled.reporters.length === 0) break
  await tick()
}
await runtime.close()
