// Several agents, one prompt: a judge selects, the first one wins, or each goes on from the answer of the one before.
import { createRuntime, defineAgent, policyModel, type Block } from '../src/index.ts'
import { parallel, pipeline, race, type Branch } from '../src/groups.ts'

const textOf = (content: readonly Block[]): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('')

// The embedded models are plain functions; with a key, any AI SDK model stands here.
const writer = (name: string, slogan: string, wordDelayMs = 0) =>
  defineAgent({
    name,
    model: policyModel(() => slogan, { id: `embedded:${name}`, wordDelayMs }),
    pricing: { input: 0, output: slogan.length },
  })

const poet = writer('poet', 'Time, kept gently, for those who listen to it go by.', 20)
const clerk = writer('clerk', 'We sell clocks.')
const seller = writer('seller', 'Clocks that never let you be late!', 10)

// It sees every answer by its number, and says the number of the best.
const critic = policyModel(({ messages }) => {
  const answers = [...textOf(messages[0]!.content).matchAll(/<answer number="(\d+)">\n(.*)\n<\/answer>/g)]
  return answers.find(([, , answer]) => answer!.endsWith('!'))?.[1] ?? 'none is good'
})

const runtime = await createRuntime()
// The branches are children of an agent, so its session leads to all of them.
const editor = await runtime.spawn(defineAgent({ name: 'editor', model: policyModel(() => 'Thank you.') }), {
  id: 'editor',
})
const task = 'Write a slogan for a clockmaker.'

const show = ({ agentId, definition, result }: Branch): void =>
  console.log(`  ${agentId} ${definition}: ${result.stopReason}, ${result.text}`)

const judged = await parallel(editor, [poet, clerk, seller], task, { judge: { model: critic } })
console.log('parallel, a model judges:')
judged.branches.forEach(show)
console.log(`  ${judged.judgeId} chose ${judged.winner?.definition}`)

const cheap = await parallel(editor, [poet, clerk, seller], task, { judge: 'cheapest' })
console.log(`cheapest: ${cheap.winner?.definition}, ${cheap.costUsd > 0 ? 'all three were paid for' : 'for free'}`)

const shortest = (branches: readonly Branch[]): Branch =>
  branches.reduce((best, one) => (one.result.text.length < best.result.text.length ? one : best))
const brief = await parallel(editor, [poet, seller], task, { judge: shortest })
console.log(`a function judges: ${brief.winner?.result.text}`)

const raced = await race(editor, [poet, clerk, seller], task)
console.log('race:')
raced.branches.forEach(({ definition, result }) => console.log(`  ${definition}: ${result.stopReason}`))

const shouter = defineAgent({
  name: 'shouter',
  model: policyModel(({ messages }) => textOf(messages[0]!.content).toUpperCase()),
})
const chain = await pipeline(editor, [clerk, (text) => `${text} And repair them.`, shouter], task)
console.log(`pipeline: ${chain.text}`)

console.log(`left alive below the editor: ${editor.children().length}`)
await runtime.close()
