// A script that calls agents and waits: each file has a reviewer of its own, and a second look comes a moment later.
import { z } from 'zod'
import { codeTool } from '../src/code.ts'
import { createRuntime, defineAgent, defineTool, policyModel } from '../src/index.ts'

const files: Record<string, string> = { 'a.ts': 'let x = 1', 'b.ts': 'var y = 2', 'c.ts': 'const z = 3' }

const list = defineTool({
  name: 'list',
  description: 'The names of all files.',
  input: z.object({}),
  output: z.array(z.string()),
  effects: 'none',
  run: () => Object.keys(files),
})

// In place of language models.
const reviewer = defineAgent({
  name: 'reviewer',
  description: 'Reviews a file.',
  input: z.object({ file: z.string() }),
  output: z.object({ ok: z.boolean(), why: z.string() }),
  model: policyModel(({ messages }) => {
    const task =
      messages
        .at(-1)
        ?.content.map((block) => (block.type === 'text' ? block.text : ''))
        .join('') ?? ''
    const file = /"file": "([^"]+)"/.exec(task)?.[1] ?? ''
    const ok = files[file]?.startsWith('var') !== true
    return JSON.stringify({ ok, why: ok ? 'fine' : 'it has a var' })
  }),
})

/** A script as a language model would write it. */
const script = `const names = await tools.list()
const review = (file) => tools.reviewer({ task: 'Review it.', file })
const reviews = await Promise.all(names.map(review))
const bad = names.filter((_, at) => !reviews[at].ok)
await sleep(100)
for (const file of bad) console.log(file + ': ' + (await review(file)).why)
return bad.length + ' of ' + names.length + ' files need work'`

const model = policyModel(({ messages }) => {
  const last = messages.at(-1)
  const said = (last?.content ?? []).map((block) => (block.type === 'text' ? block.text : '')).join('')
  return last?.role === 'toolResult' ? said : { toolCalls: [{ name: 'run_code', input: { code: script } }] }
})

const lead = defineAgent({ name: 'lead', model, agents: [reviewer], tools: [codeTool([list], { only: true })] })

const runtime = await createRuntime()
const agent = await runtime.spawn(lead, { id: 'lead' })
agent.subscribe((event) => {
  if (event.type === 'inner.start' && event.childId !== undefined) console.log(`${event.name} ${event.childId} begins`)
})
const { text, turns } = await agent.prompt('Review all files.').result
console.log(text)
console.log(`${turns} turns of its own, ${agent.spent.turns - turns} of its agents`)
await runtime.close()
