// node examples/apps/batch/main.ts [folder] [die] — without a key: the model is a function. With `die` it is killed in the middle.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRuntime, fileStore, policyModel } from '../../../src/index.ts'
import { reviewAll } from './batch.ts'

const [folder = mkdtempSync(join(tmpdir(), 'batch-')), how] = process.argv.slice(2)
let asked = 0
const model = policyModel(async ({ messages }) => {
  await new Promise((resolve) => setImmediate(resolve))
  if (how === 'die' && asked === 15) process.kill(process.pid, 'SIGKILL')
  asked += 1
  const [said] = messages[0]!.content
  const text = said?.type === 'text' ? said.text : ''
  const number = Number(/INVOICE (\d+)/.exec(text)?.[1])
  return JSON.stringify(
    text.includes('{') ? { ok: number % 3 > 0, note: '' } : { number, total: 10 * number, currency: 'EUR' },
  )
})

const documents = Array.from({ length: 20 }, (_, index) => `INVOICE ${index + 1}: a clock`)
const runtime = await createRuntime({ store: fileStore(folder), models: { concurrency: 4 } })
const { extracted, reviewed } = await reviewAll(runtime, model, documents, 1)
await runtime.close()
const sum = extracted.items.reduce((total, { output }) => total + (output?.total ?? 0), 0)
console.log(
  `${reviewed.items.filter(({ output }) => output?.ok === true).length} of 20 are right, ${sum} EUR, ${asked} times asked`,
)
