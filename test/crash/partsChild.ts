/**
 * One life of an agent with state, rules, schedules and a call that sleeps: `node partsChild.ts <folder> [<mode> <record>]` goes on from wherever the
 * life before ended, and ends when nothing more comes, unless it is killed at that record.
 */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { createRuntime, defineAgent, defineTool, fileRules, policyModel, sleepTool } from '../../src/index.ts'
import { fileStore } from '../../packages/stores/src/fileStore.ts'
import { killingStore, type KillMode } from './killingStore.ts'

const [folder = '', mode, at] = process.argv.slice(2)
const Plan = z.object({ title: z.string(), steps: z.record(z.string(), z.string()) })

const note = defineTool({
  name: 'note',
  description: 'Notes steps.',
  input: z.object({}),
  effects: 'idempotent',
  run: (_, { state }) => {
    for (const step of ['one', 'two']) state.of(Plan).update((plan) => void (plan.steps[step] = step))
    return 'noted'
  },
})
const make = defineTool({
  name: 'make',
  description: 'Makes something.',
  input: z.object({ what: z.string() }),
  subject: ({ what }) => ({ text: what }),
  needsApproval: true,
  effects: 'irreversible',
  run: ({ what }, { key }) => {
    appendFileSync(join(folder, 'ledger'), `${key} ${what}\n`)
    return `${what} made`
  },
})

/** Makes these calls one after another, a turn each, by how many results it has. */
const oneByOne = (list: readonly { readonly name: string; readonly input: object }[]) =>
  policyModel(({ messages }) => {
    const call = list[messages.filter(({ role }) => role === 'toolResult').length]
    return call === undefined ? 'done' : { toolCalls: [call] }
  })
const making = (what: string) => ({ name: 'make', input: { what } })
const helper = defineAgent({ name: 'helper', description: 'Helps.', model: oneByOne([making('wall')]), tools: [make] })
const boss = defineAgent({
  name: 'boss',
  model: oneByOne([
    { name: 'note', input: {} },
    making('door'),
    making('door'),
    making('roof'),
    { name: 'helper', input: { task: 'wall' } },
    making('wall'),
    { name: 'sleep', input: { seconds: 1 } },
    { name: 'note', input: {} },
  ]),
  tools: [note, make, sleepTool()],
  agents: [helper],
  state: { schema: Plan, initial: { title: '', steps: {} } },
  permissions: { store: fileRules(join(folder, 'rules.jsonl')) },
})

const inner = fileStore(join(folder, 'store'))
const store =
  mode === undefined ? inner : killingStore(inner, join(folder, 'store'), { mode: mode as KillMode, at: Number(at) })
const runtime = await createRuntime({ store })
const agent = await runtime.open('a1', boss)
const once = async (requestId: string, command: object): Promise<void> => {
  if (!(await agent.wasAsked(requestId))) agent.dispatch({ ...command, agentId: 'a1' } as never, { requestId })
  await agent.durable()
}
await once('title', { type: 'agent.state', patch: [{ op: 'replace', path: '/title', value: 'House' }] })
await once('mode', { type: 'agent.mode', mode: 'edits' })
// Far ahead: whoever lives then sees it fire.
await once('schedule', { type: 'agent.schedule', schedule: 'x', at: Date.now() + 3_000, prompt: 'Look.' })
void agent.askOnce('go', 'Build it.')
const scopes = { door: 'session', roof: 'always', wall: 'always' } as const
for (;;) {
  if (agent.pause !== null && agent.pause.type !== 'timer' && agent.pause.type !== 'approvals') agent.resume()
  for (const { key, input } of agent.pending()) {
    const { what } = input as { what: keyof typeof scopes }
    agent.decide(key, 'approve', { grant: { rule: `make(${what})`, scope: scopes[what] } })
  }
  if (agent.state === 'idle' && agent.schedules().length === 0 && (await agent.wasAsked('go'))) break
  await pause(5)
}
await runtime.close()
