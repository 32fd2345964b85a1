/**
 * One life of a batch: `node eachJob.ts <folder> [<mode> <record>]` goes on with the batch of that folder, and is killed at that record, counted over
 * all its agents. Every order is booked by a call that cannot be taken back. Prints the answers.
 */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { defineAgent } from '../../define/src/defineAgent.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { each } from '../src/each.ts'
import { fileStore } from '../../stores/src/fileStore.ts'
import { killingStore, type KillMode } from '../../../test/crash/killingStore.ts'

const [folder = '', mode, at] = process.argv.slice(2)
const logs = join(folder, 'logs')
const files = fileStore(logs)
const store = mode === undefined ? files : killingStore(files, logs, { mode: mode as KillMode, at: Number(at) })

const book = defineTool({
  name: 'book',
  description: 'Books an order.',
  input: z.object({ order: z.string() }),
  effects: 'irreversible',
  run({ order }) {
    appendFileSync(join(folder, 'booked'), `${order}\n`)
    return 'booked'
  },
})
const model = policyModel(({ messages }) => {
  const order = textOf(messages[0]!.content.slice(0, 1))
  const isBooked = messages.some(({ role }) => role === 'toolResult')
  return isBooked ? JSON.stringify({ order }) : { toolCalls: [{ name: 'book', input: { order } }] }
})
const agent = defineAgent({ name: 'booker', model, tools: [book], output: z.object({ order: z.string() }) })

const runtime = await createRuntime({ store })
const { items } = await each(runtime, agent, ['a', 'b', 'c'], { key: (order) => order, concurrency: 2 }).result
console.log(JSON.stringify(items.map(({ output, error }) => output?.order ?? error)))
await runtime.close()
